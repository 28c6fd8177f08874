"""The partial templates: one root each, exact bytes where live updates rely on them, and nothing that runs."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils.safestring import SafeString
from jinja2 import FileSystemLoader

from chat.catalogue.choices import Choice
from chat.fragments import (
    About,
    AttachmentView,
    ConversationUsage,
    Grounding,
    MessageView,
    PartView,
    Rating,
    Source,
    Versions,
    usage_html,
)
from chat.models import Conversation
from chat.models.found import Found
from chat.notices import Notice
from chat.parts import JSON, OUTCOME_OK, Part, PartKind
from chat.rendering.jinja import environment, render
from chat.search.excerpt import Piece

TEMPLATES = settings.BASE_DIR / "templates"
MESSAGE_ID = uuid.UUID(int=7, version=4)
ELEMENT_ID = f"part-{MESSAGE_ID}-0"
HOSTILE = "\"><script>alert(1)</script>' onload=x {{ 1|add:1 }} \u202ex"
VOID = {"img", "input", "br", "hr", "path", "rect", "meta", "link"}


class Roots(HTMLParser):
    """Counts what stands at the top level, and keeps every start tag with its attributes."""

    def __init__(self, html: str) -> None:
        """Reads `html` at once; `texts` holds top-level text, blanks included."""
        super().__init__()
        self.depth = 0
        self.roots: list[str] = []
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A start tag at any depth."""
        self.tags.append((tag, dict(attrs)))
        if self.depth == 0:
            self.roots.append(tag)
        self.depth += tag not in VOID

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An SVG shape that closes itself."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """An end tag."""
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        """Text; only what stands outside every element is kept."""
        if self.depth == 0:
            self.texts.append(data)


GRAPH = AttachmentView(
    index=0,
    attachment_id=uuid.UUID(int=50, version=4),
    url="/attachments/50/content/",
    name="graph-0.png",
    mime_type="image/png",
    size_bytes=2048,
    width=1000,
    height=600,
    is_graph=True,
)
IMAGE = replace(GRAPH, index=1, attachment_id=uuid.UUID(int=51, version=4), is_graph=False)
FILE = replace(IMAGE, index=2, name="data.csv", mime_type="text/csv", width=None, height=None)


def part_view(
    part: Part, *, closed: str = "", tail: str = "", attachments: tuple[AttachmentView, ...] = ()
) -> PartView:
    """A view with its HTML given, so that no renderer is under test."""
    return PartView(
        element_id=ELEMENT_ID,
        part=part,
        closed=SafeString(closed),
        tail=SafeString(tail),
        code=SafeString('<span class="nb">print</span>(1)'),
        outcome="success" if part.outcome == OUTCOME_OK else "error" if part.outcome else "",
        attachments=attachments,
    )


def message_view(
    *,
    role: str = "model",
    status: str = "done",
    text: str = "",
    parts: tuple[PartView, ...] = (),
    attachments: tuple[AttachmentView, ...] = (),
    notice: Notice | None = None,
) -> MessageView:
    """A message of the model that is done, unless changed."""
    return MessageView(
        message_id=MESSAGE_ID,
        role=role,
        status=status,
        text=text,
        parts=parts,
        attachments=attachments,
        notice=notice,
        created_at="2026-05-04T10:12:13+00:00",
    )


SOURCES = Grounding(
    (
        Source("https://example.org/a?b=1&c=2", "A page & more", "example.org"),
        Source("http://b.example/", "b.example", "b.example"),
    ),
    ("rivers of Europe", "longest <river>"),
)
ABOUT = About(
    model="Gemini Flash",
    code_execution=True,
    code_reason="The question asks for a plot.",
    usage=(("read", 1200), ("written", 34)),
    total=1234,
    cost="$0.0021",
    duration_s=4.2,
)
CHOICES = [
    Choice("", "Default (Flash)", "", "", is_missing=False),
    Choice("quick", "Quick", "For most questions.", "Presets", is_missing=False),
    Choice("gone-1", "Gone", "No longer offered by the provider.", "Models", is_missing=True),
]


def part_html(view: PartView) -> str:
    """A part with its figures."""
    return render("chat/_part", {"part": view})


def message_html(view: MessageView) -> str:
    """An article."""
    return render("chat/_message", {"message": view})


def sources() -> Iterator[tuple[str, str]]:
    """Every template as (path, source) of the product's own pages; the admin is Django's."""
    for path in sorted(TEMPLATES.rglob("*")):
        if path.suffix in (".html", ".jinja") and "admin" not in path.parts:
            yield str(path.relative_to(TEMPLATES)), path.read_text()


SAMPLES = {
    PartKind.TEXT: Part(PartKind.TEXT, text="a"),
    PartKind.THOUGHT: Part(PartKind.THOUGHT, text="a"),
    PartKind.EXECUTABLE_CODE: Part(PartKind.EXECUTABLE_CODE, text="print(1)", language="PYTHON"),
    PartKind.CODE_EXECUTION_RESULT: Part(PartKind.CODE_EXECUTION_RESULT, text="1\n", outcome=OUTCOME_OK),
    PartKind.INLINE_DATA: Part(PartKind.INLINE_DATA, mime_type="audio/wav"),
    PartKind.FILE_DATA: Part(PartKind.FILE_DATA, mime_type="text/csv", fields={"fileUri": "https://example.org/f"}),
    PartKind.FUNCTION_CALL: Part(PartKind.FUNCTION_CALL, fields={"name": "f", "args": {"a": [1]}}),
    PartKind.FUNCTION_RESPONSE: Part(PartKind.FUNCTION_RESPONSE, fields={"name": "f", "response": {"b": None}}),
    PartKind.UNSUPPORTED: Part(PartKind.UNSUPPORTED, fields={"toolCall": {}}),
}
ALL_PARTS = tuple(map(part_view, SAMPLES.values()))
ODD = [
    Part(PartKind.EXECUTABLE_CODE),
    Part(PartKind.CODE_EXECUTION_RESULT, outcome="OUTCOME_FAILED"),
    Part(PartKind.CODE_EXECUTION_RESULT, text="x\n" * 99, outcome=OUTCOME_OK),
    Part(PartKind.FUNCTION_CALL),
    Part(PartKind.FILE_DATA),
    Part(PartKind.UNSUPPORTED),
    Part(PartKind.TEXT, text=""),
]


@pytest.mark.parametrize("role", ["model", "user"])
@pytest.mark.parametrize("status", ["done", "running", "failed"])
def test_included_templates_are_the_same_compiled_in_or_not(role: str, status: str) -> None:
    view = replace(
        message_view(role=role, status=status, text="go", parts=ALL_PARTS, attachments=(GRAPH, IMAGE, FILE)),
        notice=Notice("error", "It failed.", "continue"),
        versions=Versions(1, 2, None, MESSAGE_ID),
        grounding=SOURCES,
        about=ABOUT,
        rating=Rating(MESSAGE_ID, is_good=False, reason="<b>"),
        left_out=2,
    )
    templates = FileSystemLoader(TEMPLATES)
    apart, at_once = (environment(loader=templates, auto_reload=is_watched) for is_watched in (True, False))
    html = at_once.get_template("chat/_message.jinja").render({"message": view})
    assert html == apart.get_template("chat/_message.jinja").render({"message": view})
    assert html == message_html(view)
    assert "{%" not in html


@pytest.mark.parametrize("kind", PartKind)
def test_every_kind_has_a_template(kind: PartKind) -> None:
    assert (TEMPLATES / "chat" / "parts" / f"_{kind}.jinja").is_file()
    assert kind in SAMPLES


@pytest.mark.parametrize("part", [*SAMPLES.values(), *ODD])
def test_a_part_is_one_root_with_id_and_kind_and_no_blanks_around(part: Part) -> None:
    read = Roots(part_html(part_view(part)))
    assert len(read.roots) == 1
    assert read.texts == []
    assert read.depth == 0
    _, attributes = read.tags[0]
    assert (attributes["id"], attributes["data-part-kind"]) == (ELEMENT_ID, part.kind)


def test_text_has_its_exact_bytes() -> None:
    html = part_html(part_view(Part(PartKind.TEXT, text="a"), closed="<p>a</p>\n", tail="<p>b"))
    tail = f'<div id="{ELEMENT_ID}-tail" class="tail"><p>b</div>'
    assert html == f'<div id="{ELEMENT_ID}" data-part-kind="text"><p>a</p>\n{tail}</div>'


def test_thought_is_folded_and_holds_nothing_but_blocks_and_tail() -> None:
    html = part_html(part_view(Part(PartKind.THOUGHT, text="a"), closed="<p>a</p>\n", tail="<p>b</p>"))
    assert re.match(r"<details [^>]*>", html)
    assert " open" not in html
    assert html.endswith(f'"><p>a</p>\n<div id="{ELEMENT_ID}-tail" class="tail"><p>b</p></div></div></details>')


def test_data_that_cannot_be_shown_is_named_and_a_picture_that_came_twice_is_not() -> None:
    sound = part_html(part_view(Part(PartKind.INLINE_DATA, mime_type="audio/wav")))
    assert "Data of type audio/wav that cannot be shown here." in sound
    picture = part_html(part_view(Part(PartKind.INLINE_DATA, mime_type="image/png")))
    assert picture == f'<div id="{ELEMENT_ID}" data-part-kind="inline_data"></div>'


def test_figures_follow_their_part_without_a_wrapper() -> None:
    view = part_view(SAMPLES[PartKind.CODE_EXECUTION_RESULT], attachments=(GRAPH, IMAGE))
    read = Roots(part_html(view))
    assert read.roots == ["details", "figure", "figure"]
    assert read.texts == []
    figures = [attributes for tag, attributes in read.tags if tag == "figure"]
    assert (figures[0]["data-graph-index"], figures[1]["data-image-index"]) == ("0", "1")
    assert "data-graph-index" not in figures[1]


def test_a_graphs_place_is_kept_while_it_loads() -> None:
    html = render("chat/_attachment", {"attachment": GRAPH})
    image = next(attributes for tag, attributes in Roots(html).tags if tag == "img")
    assert (image["width"], image["height"]) == ("1000", "600")
    assert image["alt"]


def test_a_file_that_is_no_image_is_a_chip() -> None:
    assert Roots(render("chat/_attachment", {"attachment": FILE})).roots == ["a"]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Part(PartKind.CODE_EXECUTION_RESULT, text="1", outcome=OUTCOME_OK), "The code ran"),
        (Part(PartKind.CODE_EXECUTION_RESULT, text=None, outcome=OUTCOME_OK), "no output"),
        (Part(PartKind.CODE_EXECUTION_RESULT, text="oh", outcome="OUTCOME_FAILED"), "The code failed"),
    ],
)
def test_an_outcome_is_said_in_words(part: Part, words: str) -> None:
    assert words in part_html(part_view(part))


def test_long_output_is_folded_and_a_failure_never_is() -> None:
    long = "line\n" * 40
    assert " open" not in part_html(part_view(Part(PartKind.CODE_EXECUTION_RESULT, text=long, outcome=OUTCOME_OK)))
    assert " open>" in part_html(part_view(Part(PartKind.CODE_EXECUTION_RESULT, text=long, outcome="OUTCOME_FAILED")))
    assert " open>" in part_html(part_view(Part(PartKind.CODE_EXECUTION_RESULT, text="1", outcome=OUTCOME_OK)))


def test_output_is_shown_character_for_character() -> None:
    output = "  a\n\n\tb <i> &amp; \n"
    html = part_html(part_view(Part(PartKind.CODE_EXECUTION_RESULT, text=output, outcome=OUTCOME_OK)))
    assert "  a\n\n\tb &lt;i&gt; &amp;amp; \n</pre>" in html


@pytest.mark.parametrize("status", ["queued", "running", "done", "stopped", "failed", "interrupted"])
def test_an_article_bears_its_hooks_and_no_blanks_between_parts(status: str) -> None:
    parts = (part_view(SAMPLES[PartKind.TEXT]), part_view(SAMPLES[PartKind.EXECUTABLE_CODE]))
    html = message_html(message_view(status=status, parts=parts))
    read = Roots(html)
    assert (read.roots, read.texts) == (["article"], [])
    _, article = read.tags[0]
    assert article["id"] == f"message-{MESSAGE_ID}"
    assert (article["data-message-id"], article["data-role"], article["data-status"]) == (
        str(MESSAGE_ID),
        "model",
        status,
    )
    assert f'-parts" class="parts">{part_html(parts[0])}{part_html(parts[1])}</div>' in html
    assert f'id="message-{MESSAGE_ID}-end"' in html
    assert f'id="message-{MESSAGE_ID}-status"' in html


def test_a_transcript_is_its_articles_without_blanks() -> None:
    views = [message_view(role="user", text="hi"), message_view()]
    html = render_to_string("chat/_transcript.html", {"messages": views})
    assert html == f'<div id="transcript" hx-ignore>{"".join(map(message_html, views))}</div>'


@pytest.mark.parametrize("status", ["queued", "running"])
def test_a_live_message_says_what_it_does_and_offers_no_continue(status: str) -> None:
    html = render("chat/_status", {"message": message_view(status=status)})
    assert "Running the code…" in html
    assert "stop" in html
    assert "<button" not in html


def test_a_notice_offers_its_action_and_a_finished_message_says_nothing() -> None:
    notice = Notice("warning", "Ended < early.", "continue")
    html = render("chat/_status", {"message": message_view(status="interrupted", notice=notice)})
    assert "Ended &lt; early." in html
    assert 'data-action="continue"' in html
    html = render("chat/_status", {"message": message_view()})
    assert html == f'<div id="message-{MESSAGE_ID}-status" class="status"></div>'


def actions_of(html: str) -> list[tuple[str | None, str | None]]:
    """What the buttons of a message do, and to which message."""
    tags = Roots(html).tags
    return [(has.get("data-action"), has.get("data-message-id")) for tag, has in tags if tag == "button"]


def test_versions_name_their_place_and_lead_to_both_sides() -> None:
    before, after = uuid.UUID(int=8, version=4), uuid.UUID(int=9, version=4)
    html = message_html(replace(message_view(role="user", text="a"), versions=Versions(2, 3, before, after)))
    assert actions_of(html)[:2] == [("switch", str(before)), ("switch", str(after))]
    assert ">2/3<" in html
    assert " disabled" not in html
    assert 'class="versions"' not in message_html(message_view(role="user", text="a"))


def test_the_first_and_the_last_version_lead_one_way_alone() -> None:
    other = uuid.UUID(int=8, version=4)
    first = message_html(replace(message_view(), versions=Versions(1, 2, None, other)))
    last = message_html(replace(message_view(), versions=Versions(2, 2, other, None)))
    assert actions_of(first)[:2] == [("switch", None), ("switch", str(other))]
    assert actions_of(last)[:2] == [("switch", str(other)), ("switch", None)]
    for html in (first, last):
        assert len([1 for _, has in Roots(html).tags if "disabled" in has]) == 1


def test_an_answer_says_how_it_was_made() -> None:
    html = message_html(FULL)
    assert "<summary><span>Gemini Flash</span><span>may run code</span><span>1,234 tokens</span><span>$0.0021" in html
    assert "<dt>Code</dt><dd>The question asks for a plot.</dd><dt>Tokens read</dt><dd>1,200</dd>" in html
    assert "<dt>Took</dt><dd>4.2 s</dd>" in html
    bare = message_html(replace(FULL, about=About("m", False, "", (), None, "", None)))
    assert "<summary><span>m</span><span>no code</span></summary><dl><dt>Model</dt><dd>m</dd></dl>" in bare


def test_sources_are_numbered_links_that_tell_nothing_to_where_they_lead() -> None:
    html = message_html(FULL)
    links = [has for tag, has in Roots(html).tags if tag == "a" and has.get("target") == "_blank"]
    assert [link["href"] for link in links] == ["https://example.org/a?b=1&c=2", "http://b.example/"]
    assert all(link["rel"] == "noopener noreferrer nofollow ugc" for link in links)
    assert 'A page &amp; more</bdi></a> <span class="muted">example.org</span>' in html
    assert "b.example</bdi></a></li>" in html
    assert "<q>rivers of Europe</q> · <q>longest &lt;river&gt;</q>" in html
    assert "<ol>" not in message_html(replace(FULL, grounding=Grounding((), ("only searched",))))


def test_pictures_of_a_message_stand_in_a_gallery_and_other_files_beside_it() -> None:
    html = message_html(message_view(role="user", attachments=(FILE, IMAGE, replace(IMAGE, index=3))))
    assert html.count('<div class="gallery">') == 1
    assert html.index('class="chip"') < html.index('<div class="gallery">')
    assert len([1 for tag, _ in Roots(html).tags if tag == "figure"]) == 2
    assert 'class="gallery"' not in message_html(message_view(attachments=(GRAPH, FILE)))


def test_a_reader_is_told_of_waiting_and_of_what_was_left_out() -> None:
    waiting = message_html(replace(message_view(status="running"), waiting="Asking again in 3 s…"))
    assert "Asking again in 3 s…" in waiting
    assert "Waiting for the model…" not in waiting
    assert "The 1 oldest message of this conversation was not sent" in message_html(replace(message_view(), left_out=1))
    assert "The 2 oldest messages of this conversation were not sent" in message_html(FULL)


@pytest.mark.parametrize(
    ("offer", "action", "mode"),
    [("continue", "continue", None), ("answer", "continue", "off"), ("regenerate", "regenerate", None)],
)
def test_a_notice_offers_what_it_says(offer: str, action: str, mode: str | None) -> None:
    view = message_view(notice=Notice("warning", "Something.", offer))
    html = render("chat/_status", {"message": view})
    button = next(has for tag, has in Roots(html).tags if tag == "button")
    assert (button["data-action"], button.get("data-code-execution")) == (action, mode)
    assert button.get("data-message-id") == (str(MESSAGE_ID) if action == "regenerate" else None)


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (ConversationUsage(0, "", 0), ""),
        (ConversationUsage(12345, "$0.0123", 2), "<span>12,345 tokens</span><span>$0.0123</span>"),
        (ConversationUsage(5, "", 1), "<span>5 tokens</span>"),
    ],
)
def test_usage_of_a_conversation_is_one_element(usage: ConversationUsage, words: str) -> None:
    html = usage_html(usage)
    read = Roots(html)
    assert (read.roots, read.texts) == (["span"], [])
    assert read.tags[0][1]["id"] == "conversation-usage"
    assert html.endswith(f">{words}</span>")


def test_a_users_text_is_shown_as_typed() -> None:
    html = message_html(message_view(role="user", text="  a\n\n [GRAPH:0] <b>"))
    assert '<div class="said">  a\n\n [GRAPH:0] &lt;b&gt;</div>' in html


def hostile_html() -> Iterator[str]:
    """Every template that shows what a model, a kernel or a person wrote, with the worst of it."""
    file, graph = replace(FILE, name=HOSTILE), replace(GRAPH, name=HOSTILE, url=HOSTILE)
    fields: dict[str, JSON] = {"name": HOSTILE, "args": {HOSTILE: HOSTILE}, "response": HOSTILE, "fileUri": HOSTILE}
    for kind in PartKind:
        part = Part(kind, text=HOSTILE, language=HOSTILE, outcome=HOSTILE, mime_type=HOSTILE, fields=fields)
        yield part_html(part_view(part))
    yield part_html(part_view(SAMPLES[PartKind.TEXT], attachments=(file, graph)))
    yield message_html(message_view(role="user", text=HOSTILE, attachments=(file, graph)))
    yield message_html(message_view(notice=Notice("error", HOSTILE)))
    source = Source(f"https://e.example/{HOSTILE}", HOSTILE, HOSTILE)
    about = About(HOSTILE, True, HOSTILE, ((HOSTILE, 1),), 1, HOSTILE, 1.0)
    grounded = replace(message_view(), grounding=Grounding((source,), (HOSTILE,)), about=about, waiting=HOSTILE)
    yield message_html(grounded)
    yield message_html(replace(grounded, status="running"))
    yield usage_html(ConversationUsage(1, HOSTILE, 1))
    conversation = Conversation(title=HOSTILE, model=HOSTILE, system_instruction=f"</textarea>{HOSTILE}")
    context = {
        "conversation": conversation,
        "model_choices": [Choice(HOSTILE, HOSTILE, HOSTILE, HOSTILE, is_missing=True)],
        "code_execution_choices": Conversation.CodeExecution.choices,
    }
    yield render_to_string("chat/_composer.html", context)
    yield render_to_string("chat/_settings.html", context)
    yield render("chat/_title", {"conversation": conversation})
    yield render_to_string("chat/_sidebar.html", {"conversation": conversation, "conversations": [conversation]})
    pieces = (Piece(HOSTILE, False), Piece(HOSTILE, True))
    search = {"searched": HOSTILE, "more_url": HOSTILE, "conversations": [conversation]}
    yield render_to_string("chat/_search.html", search)
    yield render_to_string("chat/_sidebar.html", {**search, "found": [Found(conversation, pieces, MESSAGE_ID, pieces)]})
    yield render_to_string("chat/_sidebar.html", {"searched": HOSTILE})
    yield render("chat/_error", {"sentence": HOSTILE})


def test_hostile_text_and_names_stay_text() -> None:
    for html in hostile_html():
        tags = Roots(html).tags
        assert "script" not in [tag for tag, _ in tags]
        assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
        assert "2 \u202e" not in html


FULL = replace(message_view(parts=ALL_PARTS, attachments=(GRAPH, IMAGE)), grounding=SOURCES, about=ABOUT, left_out=2)


@pytest.mark.parametrize("view", [FULL, replace(FULL, status="running"), message_view(role="user")])
def test_messages_hold_nothing_that_htmx_would_mark(view: MessageView) -> None:
    names = {name for _, attributes in Roots(message_html(view)).tags for name in attributes}
    assert not [name for name in names if name.startswith(("hx-", "data-hx-"))]


def test_class_attributes_in_messages_are_written_as_a_browser_would() -> None:
    # htmx adds and removes classes; a browser then writes the attribute anew, with single blanks.
    html = message_html(FULL)
    for _, attributes in Roots(html).tags:
        classes = attributes.get("class")
        assert classes is None or (classes and classes == " ".join(classes.split()))


@pytest.mark.parametrize(("path", "source"), list(sources()))
def test_templates_hold_no_inline_script_or_style(path: str, source: str) -> None:
    if path == "exports/conversation.html":
        # Alone in a file it can link to none; its policy allows these styles by their hash.
        source = source.replace("<style>{{ place }}</style>", "")
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|hx-on", source)
    for script in re.findall(r"<script[^>]*>", source):
        assert " src=" in script


@pytest.mark.parametrize("path", [path for path, _ in sources() if re.match(r"chat/(parts/)?_", path)])
def test_fragments_end_without_a_newline(path: str) -> None:
    assert not (TEMPLATES / path).read_text().endswith("\n")


def test_script_modules_are_small_and_import_what_exists() -> None:
    scripts = Path(settings.BASE_DIR / "static" / "js")
    for script in scripts.glob("*.js"):
        source = script.read_text()
        assert len(source.splitlines()) < 150
        for imported in re.findall(r'import .*?"\./(.+?)"', source):
            assert (scripts / imported).is_file()


def page_html(conversation: Conversation) -> str:
    """A conversation's page with one message."""
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    context = {
        "conversation": conversation,
        "messages": [message_view()],
        "conversations": [conversation],
        "emulated": True,
        "socket_url": "/ws/conversations/x/?revision=1",
        "code_execution_choices": Conversation.CodeExecution.choices,
        "model_choices": CHOICES,
        "prompt_limit_bytes": 1024,
        "usage": ConversationUsage(7, "", 1),
    }
    return render_to_string("chat/conversation.html", context, request)


def test_the_conversation_page_bears_the_hooks_of_its_composer() -> None:
    html = page_html(Conversation(title="Waves & more"))
    tags = Roots(html).tags
    assert ("form", "composer") in [(tag, attributes.get("id")) for tag, attributes in tags]
    composer = html[html.index('<form id="composer"') : html.index("</form>", html.index('<form id="composer"'))]
    assert [has["name"] for tag, has in Roots(composer).tags if tag == "textarea"] == ["text"]
    assert 'data-action="stop"' in html
    assert 'hx-ws:connect="/ws/conversations/x/?revision=1"' in html
    assert "Waves &amp; more · Plotline" in html
    assert "Demo model" in html
    assert "7 tokens" in html
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert not [name for _, attributes in tags for name in attributes if name == "style" or name.startswith("on")]


def test_pickers_show_what_is_chosen_and_what_is_gone() -> None:
    conversation = Conversation(model="gone-1", code_execution="on", system_instruction="\nBe <brief>.")
    composer = render_to_string(
        "chat/_composer.html",
        {
            "conversation": conversation,
            "model_choices": CHOICES,
            "code_execution_choices": Conversation.CodeExecution.choices,
        },
    )
    tags = Roots(composer).tags
    assert [has["value"] for tag, has in tags if tag == "option" and "selected" in has] == ["gone-1", "on"]
    assert [has["data-saved"] for tag, has in tags if tag == "select"] == ["gone-1", "on"]
    assert "Gone (no longer offered)</option>" in composer
    assert [has["label"] for tag, has in tags if tag == "optgroup"] == [
        "Presets",
        "Models",
        "In this conversation",
        "Only for the next message",
    ]
    assert [has["value"] for tag, has in tags if tag == "option"][-2:] == ["once-on", "once-off"]


def test_the_settings_dialog_shows_every_setting_as_it_is() -> None:
    conversation = Conversation(model="quick", code_execution="off", system_instruction="\nBe <brief>.")
    html = render_to_string(
        "chat/_settings.html",
        {
            "conversation": conversation,
            "model_choices": CHOICES,
            "code_execution_choices": Conversation.CodeExecution.choices,
            "prompt_limit_bytes": 1024,
        },
    )
    checked = [(has["name"], has["value"]) for _, has in Roots(html).tags if "checked" in has]
    assert checked == [("model", "quick"), ("code_execution", "off")]
    assert "For most questions." in html
    # The first newline belongs to the tag.
    assert '">\n\nBe &lt;brief&gt;.</textarea>' in html
    assert 'data-limit-bytes="1024"' in html
