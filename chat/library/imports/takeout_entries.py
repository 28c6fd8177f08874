"""Reads the entries of Google's activity file of Gemini, as JSON or as HTML. Pure.

Google does not document either format. The forms are taken from public programs, which were written for exports in
several languages: 420AI's and llm-logparser's readers of JSON, a converter of a Slovene export in HTML, and scripts for
Japanese, German and Chinese ones. Most entries are a question with its answer: in JSON `title`, `time`, `safeHtmlItem`,
`subtitles`, `attachedFiles` and `imageFile`; in HTML an `outer-cell` with the question, the time and the answer in its
first `content-cell`. Since 2025, links of an entry name the conversation. The question follows words such as `Prompted`
in the account's language, which `find_label` recognizes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from chat.library.imports.html_markdown import (
    children_of,
    html_to_markdown,
    nodes_to_markdown,
    parse_fragment,
)
from chat.library.imports.json_paths import EPOCH, JSONValue, objects_in
from chat.library.imports.takeout_times import read_time
from chat.vocabulary.html_elements import Element
from chat.vocabulary.parts import JSON

ENTRIES_LIMIT = 50_000
FILES_LIMIT = 100
"""Maximum number of files of one entry."""
DRAFTS_LIMIT = 100
LABEL_LIMIT_CHARS = 60
HTML_LIMIT_CHARS = 4_000_000
"""Maximum length of the HTML of one entry."""
TOO_LONG = "an answer in this file is too long."
PROMPT_LABELS = ("Prompted", "Asked Gemini:", "Asked Bard:", "Eingegebener Prompt:", "送信したメッセージ:")

_CELL = '<div class="outer-cell'
_CONVERSATION = re.compile(
    r"https://(?:gemini|bard)\.google\.com/(?:u/\d{1,2}/)?(?:app|chat|gem/[\w-]{1,64})/(\w{6,64})"
)
_LABEL = re.compile("[^\n:：\xa0]+(?:\xa0?[:：]|(?=\xa0))")
_GEMINI = re.compile(r"gemini|bard", re.IGNORECASE)
_BLOCKS = frozenset({"p", "pre", "ul", "ol", "table", "blockquote", "div", "hr", "h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One activity."""

    time: datetime
    title: str
    """Google's words, such as `Prompted`, and the question."""
    answers: tuple[str, ...] = ()
    """Each draft of the answer, as Markdown."""
    files: tuple[tuple[str, str], ...] = ()
    """Pairs (name in the archive, name as it was uploaded) of the question's files."""
    pictures: tuple[str, ...] = ()
    """Names in the archive of the pictures that the answer shows."""
    notes: tuple[str, ...] = ()
    """Other texts by Google about the activity."""
    conversation: str = ""
    """The id of the conversation; empty if the file does not contain it."""


def find_label(entries: Sequence[Entry]) -> str:
    """Return the words before each question, such as `Prompted`; empty if they are not recognized.

    These are known words, or words up to a colon or a no-break space with which more than one and at least half of the
    answered entries begin. If no entry is answered, all entries count.
    """
    titles = [entry.title for entry in entries if entry.answers] or [entry.title for entry in entries]
    counts = Counter(label for title in titles if (label := _label_of(title)))
    if not counts:
        return ""
    label, count = counts.most_common(1)[0]
    return label if label in PROMPT_LABELS or (count > 1 and 2 * count >= len(titles)) else ""


def _label_of(title: str) -> str:
    for label in PROMPT_LABELS:
        if title.startswith(label):
            return label
    match = _LABEL.match(title[:LABEL_LIMIT_CHARS])
    return match[0] if match else ""


def is_activity_html(text: str) -> bool:
    """Return whether a text is Google's activity of Gemini in HTML."""
    cell = text.find(_CELL)
    return cell >= 0 and bool(_GEMINI.search(text, cell, cell + 20_000))


def read_json(document: JSONValue) -> Iterator[Entry]:
    """Yield the entries of Gemini. Raises RefusedImport for invalid values."""
    time = EPOCH
    for value in document.items(ENTRIES_LIMIT):
        names = [value.get("header").value, *_list(value.get("products").value)]
        if not any(isinstance(name, str) and _GEMINI.search(name) for name in names):
            continue
        time = value.get("time").as_time_or(time)
        yield _json_entry(value, time)


def _json_entry(value: JSONValue, time: datetime) -> Entry:
    drafts = [one.get("html").as_text_or_empty(HTML_LIMIT_CHARS) for one in value.many_at("safeHtmlItem", DRAFTS_LIMIT)]
    subtitles = [(one.get("name"), one.get("url")) for one in objects_in(_list(value.get("subtitles").value))]
    named = [(url, name) for name, url in subtitles if isinstance(url, str) and isinstance(name, str)]
    files = {url: name.lstrip("- ") for url, name in named if "://" not in url}
    listed = [*_list(value.get("attachedFiles").value), value.get("imageFile").value]
    names = [name for name in dict.fromkeys(one for one in listed if isinstance(one, str) and one) if name not in files]
    shown = [name for name in names if any(name in draft for draft in drafts)]
    files |= {name: "" for name in names if name not in shown}
    details = [one.get(name) for one in objects_in(_list(value.get("details").value)) for name in ("name", "url")]
    addresses = " ".join(one for one in [*details, value.get("titleUrl").value] if isinstance(one, str))
    conversation = _CONVERSATION.search(addresses[:10_000])
    return Entry(
        time=time,
        title=value.get("title").as_text_or_empty().strip(" \n"),
        answers=tuple(text for text in map(html_to_markdown, drafts) if text),
        files=tuple(list(files.items())[:FILES_LIMIT]),
        pictures=tuple(shown[:FILES_LIMIT]),
        notes=tuple(name for name, url in subtitles if isinstance(name, str) and not url),
        conversation=_conversation_id(conversation),
    )


def read_html(text: str, value: JSONValue) -> Iterator[Entry]:
    """Yield the entries of Gemini. `value`: the place that an error names. Raises RefusedImport at a limit.

    Each entry is parsed alone, so that memory holds only the tree of one entry.
    """
    if text.count(_CELL) > ENTRIES_LIMIT:
        raise value.refusal(f"there are more than {ENTRIES_LIMIT} entries.")
    time = EPOCH
    start = text.find(_CELL)
    while start >= 0:
        end = text.find(_CELL, start + 1)
        end_of_cell = end if end >= 0 else len(text)
        if end_of_cell - start > HTML_LIMIT_CHARS:
            raise value.refusal(TOO_LONG)
        root = parse_fragment(text[start:end_of_cell])
        if root is not None and (entry := _html_entry(root)):
            # An entry whose time cannot be read gets the time of the previous one, because the file is ordered by time.
            time = entry.time if entry.time > EPOCH else time
            yield replace(entry, time=time)
        start = end


def _html_entry(root: Element) -> Entry | None:
    cells = [one for one in root.iter("div") if "content-cell" in (one.get("class") or "")]
    header = next((one for one in root.iter("div") if "header-cell" in (one.get("class") or "")), None)
    addresses = " ".join((link.get("href") or "")[:300] for cell in cells[1:] for link in cell.iter("a"))[:10_000]
    conversation = _CONVERSATION.search(addresses)
    product = "".join(header.itertext()) if header is not None else ""
    if not cells or not (conversation or _GEMINI.search(product[:1_000])):
        return None
    lines, time, answer = _split_cell(children_of(cells[0]))
    title, files = _read_lines(lines)
    pictures = [name for node in answer if not isinstance(node, str) for name in _local_names(node, "img", "src")]
    text = nodes_to_markdown(answer)
    return Entry(
        time=JSONValue(time.isoformat()).as_time_or(EPOCH) if time else EPOCH,
        title=title,
        answers=(text,) if text else (),
        files=tuple(list(files.items())[:FILES_LIMIT]),
        pictures=tuple(dict.fromkeys(pictures))[:FILES_LIMIT],
        conversation=_conversation_id(conversation),
    )


_Node: TypeAlias = "str | Element"


def _split_cell(nodes: list[_Node]) -> tuple[list[list[_Node]], datetime | None, list[_Node]]:
    """Return the lines before the time, the time, and the nodes after it."""
    block = next((number for number, one in enumerate(nodes) if not isinstance(one, str) and one.tag in _BLOCKS), None)
    times = [(number, time) for number, one in enumerate(nodes) if isinstance(one, str) and (time := read_time(one))]
    # Lines of the question and of the answer may be times, too. The answer begins with a block.
    before = [one for one in times if block is None or one[0] < block]
    found = before[-1] if before else times[0] if times else None
    end = found[0] if found else block if block is not None else len(nodes)
    lines: list[list[_Node]] = [[]]
    for node in nodes[:end]:
        if not isinstance(node, str) and node.tag == "br":
            lines.append([])
        else:
            lines[-1].append(node)
    return lines, found[1] if found else None, nodes[end + 1 :] if found else nodes[end:]


def _read_lines(lines: list[list[_Node]]) -> tuple[str, dict[str, str]]:
    """Return the text of the question, and its files: name in the archive -> name as it was uploaded."""
    texts: list[str] = []
    files: dict[str, str] = {}
    for line in lines:
        text = "".join(node if isinstance(node, str) else "".join(node.itertext()) for node in line)
        names = [name for node in line if not isinstance(node, str) for name in _local_names(node, "a", "href")]
        if names and text.lstrip().startswith("-"):
            if not files and len(texts) > 1 and any(char.isdigit() for char in texts[-1][:LABEL_LIMIT_CHARS]):
                # The previous line only says how many files there are.
                texts.pop()
            files |= dict.fromkeys(names, text.lstrip("- \xa0").strip())
        else:
            texts.append(text.strip(" \n"))
    return "\n".join(texts).strip(), files


def _local_names(element: Element, tag: str, attribute: str) -> Iterator[str]:
    """Yield the names of files beside the document to which an element links."""
    for one in element.iter(tag):
        name = one.get(attribute) or ""
        if name and len(name) <= 300 and ":" not in name and not name.startswith(("/", "#")):
            yield name


def _conversation_id(match: re.Match[str] | None) -> str:
    return match[1].removeprefix("c_") if match else ""


def _list(value: JSON) -> list[JSON]:
    return value[:1_000] if isinstance(value, list) else []
