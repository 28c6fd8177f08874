"""Turns the citation marks in ChatGPT's texts into links to their sources. Pure.

OpenAI does not document the marks. Those of 2025 and 2026 are between private-use characters, such as U+E200 `cite`
U+E202 `turn0search3` U+E201; a copied text has `citeturn0search3` instead. Older ones are `【7†source】` and
`:contentReference[oaicite:0]{index=0}`. The metadata of the message name the sources. A mark without a known source is
removed. A name in it, such as that of a person, stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from chat.library.imports.json_paths import objects_in
from chat.vocabulary.markdown_source import escape_label
from chat.vocabulary.parts import JSON, JSONObject
from chat.vocabulary.sanitize import sanitize_text

LINKS_LIMIT = 8
"""Maximum number of links of one mark."""
LINKS_LIMIT_CHARS = 50_000
"""Maximum number of characters of all links of a message. Later marks are removed: links could become megabytes."""
SOURCES_LIMIT = 100
URL_LIMIT_CHARS = 2_000
TITLE_LIMIT_CHARS = 200
LABEL_LIMIT_CHARS = 2_000
MARK_LIMIT_CHARS = 300
"""Maximum number of characters of a mark that is known only by its position."""

_CLOSED_MARK = re.compile("[ \t]?\ue200[^\ue200\ue201]*+\ue201")
_MARK_CHARACTERS = re.compile("[\ue200-\ue20f]")
_REF_TYPES = (
    "search|news|view|image|file|fetch|product|video|youtube|reddit|academia|business|forecast|finance|sports|map|"
    "maps|msearch|mclick|open|click|find|calculator|time"
)
_REF = rf"turn\d{{1,4}}(?:{_REF_TYPES})\d{{1,4}}"
_PLAIN_MARK = re.compile(
    r"[ \t]?(?:"
    r"\b(?:file|mem)?cite(?:turn\d{1,4}[a-z]{2,20}\d{1,4})+"
    # A reference such as `turn0search3` within a URL is no mark.
    rf"|(?<![/\w])(?:image)?(?:{_REF})+\b"
    rf"|\bnavlist[^\n]{{0,100}}?(?:{_REF})+\b"
    rf"|(?:\u200b?``)?(?:\bcite)?【(?:(?:\d{{1,4}}(?::\d{{1,4}})?|{_REF})?†[^【】\n]{{0,200}}|{_REF}|oaicite:\d{{1,4}})】(?:``\u200b?)?"
    r"|(?::contentReference|:citation)?\[oaicite:\d{1,4}\](?:\{index=\d{1,4}\})?"
    r")"
)
_PLAIN_ENTITY = re.compile(r'\bentity\["[a-z_]{1,40}", ?"([^"\n]{1,200})", ?[^\]\n]{1,200}\]')
"""A mark with the name of a person or thing, in a text that has lost the private-use characters around the mark."""
_FILE_NAME = re.compile(r"†([^†【】]{1,200}\.[A-Za-z0-9]{1,5})】")
_REFERENCE = re.compile(r"turn(\d{1,4})([a-z]{2,20})(\d{1,4})")
_NAMED_KINDS = ("entity", "product_entity", "url", "link_title", "video")
"""Kinds of marks whose name is part of the sentence around the mark."""
_UNSAFE_IN_TARGET = str.maketrans({char: f"%{ord(char):02X}" for char in "()<>[]\\\"'`|*_~"})


@dataclass(frozen=True, slots=True)
class Source:
    """A web page that an answer cites."""

    url: str
    """An address with http or https."""
    title: str

    @property
    def link(self) -> str:
        """The link in Markdown."""
        return f"[{escape_label(self.title)}]({self.url.translate(_UNSAFE_IN_TARGET)})"

    def as_json(self) -> JSONObject:
        """Return the source as `Turn.sources` stores it."""
        return {"url": self.url, "title": self.title}


@dataclass(slots=True)
class Citations:
    """The sources that the metadata of one message name."""

    sources: list[Source] = field(default_factory=list)
    """All sources, each once, in order."""
    by_text: dict[str, list[Source]] = field(default_factory=dict)
    """Text of a mark, without its private-use characters -> the sources that it cites."""
    by_reference: dict[str, Source] = field(default_factory=dict)
    """Reference such as `turn0search3` -> its source."""
    names: dict[str, str] = field(default_factory=dict)
    """Text of a mark, without its private-use characters -> the name of a file or of another thing."""
    chars: int = 0
    """Characters of the links and names so far."""

    def link(self, text: str, *, is_typed: bool = False) -> str:
        """Return the text with links in place of its marks. No private-use character of a mark is left.

        `is_typed`: whether a person typed the text. Then only text between private-use characters is a mark.
        """
        linked = _MARK_CHARACTERS.sub("", _CLOSED_MARK.sub(self._replace, text))
        if is_typed:
            return linked
        named = _PLAIN_ENTITY.sub(lambda match: escape_label(match[1]), linked)
        return _PLAIN_MARK.sub(self._replace, named)

    def _replace(self, match: re.Match[str]) -> str:
        space = match[0][:1] if match[0][0] in " \t" else ""
        mark = match[0][len(space) :]
        named = escape_label(_name_in_mark(mark))
        cited = self._cited(_without_marks(mark))
        if cited:
            return f"{space or _space_before(match)}{named}{' ' if named else ''}({cited})"
        if named:
            return space + named
        return space if match.string[match.end() : match.end() + 1].isalnum() else ""

    def _cited(self, key: str) -> str:
        """Return the links of a mark, or the name of the file that it cites; empty without both, or above the limit."""
        if self.chars > LINKS_LIMIT_CHARS:
            return ""
        sources = self.by_text.get(key) or self._referenced(key)
        links = dict.fromkeys(source.link for source in sources[:LINKS_LIMIT])
        file_name = _FILE_NAME.search(key)
        cited = ", ".join(links) or escape_label(self.names.get(key) or (file_name[1] if file_name else ""))
        self.chars += len(cited)
        return cited

    def _referenced(self, key: str) -> list[Source]:
        names = (match[0] for match in _REFERENCE.finditer(key))
        return [self.by_reference[name] for name in names if name in self.by_reference]


def read_citations(metadata: Mapping[str, JSON], text: str) -> Citations:
    """Return the sources of a message. Values that are not understood are ignored.

    `text`: the message's text as in the export, because older citations have only positions in it.
    """
    citations = Citations()
    for group in objects_in(metadata.get("search_result_groups")):
        for entry in objects_in(group.get("entries")):
            _add_reference(citations, entry.get("ref_id"), source_of(entry))
    for reference in objects_in(metadata.get("content_references")):
        _read_reference(citations, reference, text)
    for citation in objects_in(metadata.get("citations")):
        start, end, cited = citation.get("start_ix"), citation.get("end_ix"), citation.get("metadata")
        if isinstance(start, int) and isinstance(end, int) and isinstance(cited, dict):
            _add_text(citations, _between(text, start, end).strip(), [cited])
    # Only pages that are cited are sources; a search finds many more.
    cited_sources = [source for sources in citations.by_text.values() for source in sources]
    citations.sources = list(dict.fromkeys([*citations.sources, *cited_sources]))[:SOURCES_LIMIT]
    return citations


def _read_reference(citations: Citations, reference: Mapping[str, JSON], text: str) -> None:
    items = [item for name in ("items", "fallback_items", "images") for item in objects_in(reference.get(name))]
    cited: list[Mapping[str, JSON]] = [reference, *items]
    if isinstance(product := reference.get("product"), dict):
        cited.append(product)
    for item in cited[1:]:
        pages = [item, *objects_in(item.get("supporting_websites"))]
        references = item.get("refs")
        for one, page in zip(references if isinstance(references, list) else [], pages, strict=False):
            _add_reference(citations, one, source_of(page))
    if reference.get("type") == "sources_footnote":
        footnotes = [source_of(source) for source in objects_in(reference.get("sources"))]
        citations.sources += [source for source in footnotes if source]
        return
    addresses = reference.get("safe_urls")
    if not any(map(source_of, cited)) and isinstance(addresses, list):
        cited += [{"url": address} for address in addresses[:LINKS_LIMIT]]
    matched, start, end = (reference.get(name) for name in ("matched_text", "start_idx", "end_idx"))
    if not matched and isinstance(start, int) and isinstance(end, int):
        matched = _between(text, start, end)
    if isinstance(matched, str):
        _add_text(citations, matched.strip(), cited)


def _between(text: str, start: int, end: int) -> str:
    """Return the mark between two positions in the text."""
    start = max(0, start)
    return text[start : min(max(0, end), start + MARK_LIMIT_CHARS)]


def _add_text(citations: Citations, text: str, cited: Sequence[Mapping[str, JSON]]) -> None:
    """Store the sources that a mark cites. A text that is no mark, such as a space, is ignored."""
    if not (_CLOSED_MARK.fullmatch(text) or _PLAIN_MARK.fullmatch(text)):
        return
    key = _without_marks(text)
    sources = [source for one in cited if (source := source_of(one))]
    if sources:
        known = citations.by_text.setdefault(key, [])
        known += sources[: LINKS_LIMIT - len(known)]
    name = next((one["name"] for one in cited if isinstance(one.get("name"), str)), None)
    if isinstance(name, str) and name.strip():
        citations.names[key] = clean_title(name)


def _add_reference(citations: Citations, reference: JSON, source: Source | None) -> None:
    if source is None:
        return
    if isinstance(reference, dict):
        values = (reference.get(name) for name in ("turn_index", "ref_type", "ref_index"))
        reference = "turn{}{}{}".format(*values)
    if isinstance(reference, str) and _REFERENCE.fullmatch(reference):
        citations.by_reference.setdefault(reference, source)


def source_of(value: Mapping[str, JSON]) -> Source | None:
    """Return the web page that an object names; `None` if it names no page with an address that may be linked."""
    url, title = value.get("url"), value.get("title")
    if not isinstance(url, str) or len(url) > URL_LIMIT_CHARS or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        return None
    return Source(url, (clean_title(title) if isinstance(title, str) else "") or host)


def _name_in_mark(mark: str) -> str:
    """Return the visible name in a mark of one of `_NAMED_KINDS`; empty if there is none."""
    if mark[0] != "\ue200":
        return ""
    kind, *fields = mark[1:-1].split("\ue202", 3)
    if kind not in _NAMED_KINDS or not fields or len(fields[0]) > LABEL_LIMIT_CHARS:
        return ""
    labels: list[JSON] = [*fields]
    if fields[0].startswith(("[", "{")):
        try:
            value = json.loads(fields[0])
        except (ValueError, RecursionError):
            return ""
        # The first string of a list is the kind of the thing, or a reference.
        labels = value[1:] if isinstance(value, list) else [value.get("name"), value.get("title")]
    return next((clean_title(label) for label in labels if isinstance(label, str) and _is_name(label)), "")


def _is_name(label: str) -> bool:
    return bool(label.strip()) and not _REFERENCE.fullmatch(label) and "://" not in label


def _space_before(match: re.Match[str]) -> str:
    """Return a space if the mark follows a word."""
    return " " if match.start() and not match.string[match.start() - 1].isspace() else ""


def _without_marks(text: str) -> str:
    return _MARK_CHARACTERS.sub("", text).strip()


def clean_title(text: str) -> str:
    """Return a title in one line without marks."""
    text = _PLAIN_MARK.sub("", _without_marks(sanitize_text(text[: 2 * TITLE_LIMIT_CHARS])))
    return " ".join(text.split())[:TITLE_LIMIT_CHARS]
