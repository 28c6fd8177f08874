"""Content of ChatGPT's answers besides plain text: citations, documents of a canvas, and files of the archive."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from attachments import validation
from attachments.models import Attachment
from attachments.validation import BINARY, EXCEL
from chat.library.imports import chatgpt, importer
from chat.library.imports.archives import IN_MEMORY
from chat.library.imports.chatgpt_canvas import Document, read_call
from chat.library.imports.chatgpt_citations import LINKS_LIMIT_CHARS, read_citations
from chat.library.imports.importer import import_file
from chat.library.imports.refusal import RefusedImport
from chat.models import Conversation, Message
from tests.chat.library.exports.samples import exported_bytes, png
from tests.chat.library.imports.documents import zipped
from tests.chat.library.imports.test_chatgpt import conversation_of, import_conversations, messages_of, node
from tests.factories import make_user
from tests.tables.corpus.workbooks import Sheet, write_xlsx
from tests.time_growth import GROWTH_LIMIT, time_growth

MARK = "\ue200cite\ue202turn0search3\ue202turn0search8\ue201"
BRIDGE = {"title": "Bridge [history]", "url": "https://example.org/bridge_(old)"}
BRIDGE_LINK = r"[Bridge \[history\]](https://example.org/bridge%5F%28old%29)"
ARCHIVE = {"title": None, "url": "https://example.org/archive"}


def reference(mark: str, *items: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"content_references": [{"matched_text": mark, "type": "grouped_webpages", "items": [*items], **fields}]}


@pytest.mark.parametrize(
    ("text", "metadata", "expected"),
    [
        (f"1894. {MARK} It", reference(MARK, BRIDGE, ARCHIVE),
         f"1894. ({BRIDGE_LINK}, [example.org]({ARCHIVE['url']})) It"),
        (f"1894.{MARK}", reference(MARK, BRIDGE), f"1894. ({BRIDGE_LINK})"),
        # A copied text has lost the private-use characters.
        ("1894. citeturn0search3turn0search8", reference(MARK, BRIDGE), f"1894. ({BRIDGE_LINK})"),
        (f"1894. {MARK}", {"search_result_groups": [{"entries": [
            {**BRIDGE, "ref_id": {"turn_index": 0, "ref_type": "search", "ref_index": 8}}
        ]}]}, f"1894. ({BRIDGE_LINK})"),
        ("A. citeturn0search3", reference("", {**ARCHIVE, "refs": [
            {"turn_index": 0, "ref_type": "search", "ref_index": 1}, "turn0search3"
        ], "supporting_websites": [BRIDGE]}), f"A. ({BRIDGE_LINK})"),
        ("A【7†source】.", {"citations": [
            {"start_ix": 1, "end_ix": 11, "metadata": {"type": "webpage", **BRIDGE}}
        ]}, f"A ({BRIDGE_LINK})."),
        ("By \ue200entity\ue202[\"people\", \"A. Example\", 0]\ue201.", {}, "By A. Example."),
        ("See \ue200url\ue202Docs\ue202turn0search1\ue201", {}, "See Docs"),
        ("See \ue200filecite\ue202turn1file0\ue201", reference(
            "\ue200filecite\ue202turn1file0\ue201", type="file", name="notes.pdf"
        ), "See (notes.pdf)"),
        ("See \ue200filecite\ue202turn1file0\ue201", {"content_references": [
            {"matched_text": "", "start_idx": 4, "end_idx": 25, "type": "webpage", **BRIDGE}
        ]}, f"See ({BRIDGE_LINK})"),
        (f"1894. {MARK}", reference(MARK, safe_urls=[ARCHIVE["url"], 7]), f"1894. ([example.org]({ARCHIVE['url']}))"),
        (f"1894. {MARK}", reference(MARK, type="image_v2", images=[BRIDGE]), f"1894. ({BRIDGE_LINK})"),
        ("A【6:3†a_report.pdf】.", {}, r"A (a\_report.pdf)."),
        ('By entity["people", "A. Example", 0].', {}, "By A. Example."),
        ("See https://example.org/turn0search3/a", {}, "See https://example.org/turn0search3/a"),
        # Without a source, no mark is left.
        ("Old \u200b``【oaicite:0】``\u200b :citation[oaicite:1]{index=1} [oaicite:2] end", {}, "Old end"),
        ("It【turn0search3†source】 is【turn2view0†L1-L9】 so cite【turn0search3】【†source】.", {}, "It is so."),
        ("A turn0search3turn0news5 navlistLatest newsturn0news1 imageturn0image0turn0image1 b", {}, "A b"),
        (f"1894. {MARK} It 【7†source】 is :contentReference[oaicite:0]{{index=0}}.", {}, "1894. It is."),
        ("\ue203Old\ue204 \ue200image_group\ue202{\"query\": []}\ue201and \ue200cite\ue202turn0search3", {}, "Old and"),
        # Addresses that a link must not open.
        (f"A {MARK}", reference(MARK, {"title": "x", "url": "javascript:alert(1)"}), "A"),
        (f"A {MARK}", reference(MARK, {"title": "x", "url": "https://user@example.org/"}), "A"),
        (f"A {MARK}", {"content_references": [None, {"matched_text": 7, "items": {}}], "citations": "x"}, "A"),
    ],
)  # fmt: skip
def test_citation_marks_become_links_or_are_removed_if_they_have_no_source(
    text: str, metadata: dict[str, Any], expected: str
) -> None:
    assert read_citations(metadata, text).link(text) == expected


def test_typed_text_that_looks_like_a_citation_mark_is_kept() -> None:
    text = f"What is turn0search3 or citeturn0search3?{MARK}"
    assert read_citations({}, text).link(text, is_typed=True) == "What is turn0search3 or citeturn0search3?"


def test_length_of_all_links_of_a_message_is_limited() -> None:
    items = [{"title": "t" * 200, "url": f"https://example.org/{number}{'u' * 1_900}"} for number in range(50)]
    text = MARK * 10_000
    assert len(read_citations(reference(MARK, *items), text).link(text)) < 2 * LINKS_LIMIT_CHARS


PLAN = Document("Plan", "document", "# Plan\n\n- Day 1: arrive\n- Day 2: museum\n")


def update(*changes: dict[str, Any], document: Document | None = PLAN) -> tuple[Document | None, str]:
    result = read_call("canmore.update_textdoc", json.dumps({"updates": changes}), document)
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("pattern", "multiple", "content"),
    [
        ("museum", False, "# Plan\n\n- Day 1: arrive\n- Day 2: NEW\n"),
        ("Day", True, "# Plan\n\n- NEW 1: arrive\n- NEW 2: museum\n"),
        (r"\- Day 1\: arrive", False, "# Plan\n\nNEW\n- Day 2: museum\n"),
        (".*", False, "NEW"),
        (r"(?s)^[\s\S]*$", True, "NEW"),
        (r"\- Day 1.*?museum", False, "# Plan\n\nNEW\n"),
        ("- Day 2.*", False, "# Plan\n\n- Day 1: arrive\nNEW"),
    ],
)
def test_update_of_a_canvas_document_is_shown_as_a_new_version_of_the_document(
    pattern: str, multiple: bool, content: str
) -> None:
    document, shown = update({"pattern": pattern, "multiple": multiple, "replacement": "NEW"})
    assert document == Document("Plan", "document", content, version=2)
    assert shown == f"**Document “Plan”, version 2**\n\n{content.strip()}"


def test_canvas_update_that_cannot_be_applied_is_shown_and_its_pattern_is_not_run() -> None:
    document, shown = update({"pattern": "(a+)+[bc]$", "replacement": "harbour"})
    assert document == Document("Plan", "document", None, version=2)
    assert "(a+)+[bc]$" in shown
    assert "harbour" in shown
    # The text is unknown from now on, until it is written as a whole.
    document, _ = update({"pattern": "museum", "replacement": "x"}, document=document)
    document, shown = update({"pattern": ".*", "replacement": "All"}, document=document)
    assert (document, shown) == (
        Document("Plan", "document", "All", version=4),
        "**Document “Plan”, version 4**\n\nAll",
    )
    assert "harbour" in update({"pattern": "x", "replacement": "harbour"}, document=None)[1]


def test_search_for_the_last_match_takes_linear_time_and_an_update_with_a_group_is_not_applied() -> None:
    def change(length: int) -> None:
        pattern = f".*ab{'a' * (length // 2)}"
        update({"pattern": pattern, "replacement": "x"}, document=Document("A", "document", "a" * length))

    assert time_growth(change, 100_000) < GROWTH_LIMIT
    assert update({"pattern": "Day (.*)", "replacement": r"Tag \1"})[0] == Document("Plan", "document", None, version=2)


def test_canvas_update_that_makes_the_document_too_long_is_not_applied() -> None:
    long = Document("A", "document", "a" * 1_000_000)
    assert update({"pattern": "a", "multiple": True, "replacement": "b" * 1_000_000}, document=long)[0] == Document(
        "A", "document", None, version=2
    )


@pytest.mark.django_db
def test_canvas_documents_and_comments_become_text_of_the_answer() -> None:
    def call(key: str, parent: str, name: str, value: object) -> dict[str, Any]:
        content = {"content_type": "code", "language": "json", "text": json.dumps(value)}
        return node(key, parent, "assistant", content=content, recipient=f"canmore.{name}_textdoc")

    def done(key: str, parent: str, number: str, title: str) -> dict[str, Any]:
        return node(key, parent, "tool", "Success", metadata={"canvas": {"textdoc_id": number, "title": title}})

    code = {"name": "tool", "type": "code/python", "content": "print(1)"}
    (conversation,) = import_conversations(
        conversation_of(
            node("u", None, "user", "Write"),
            call("a", "u", "create", {"name": "travel_plan", "type": "document", "content": "- Day 2: museum"}),
            done("b", "a", "1", "Travel plan"),
            call("c", "b", "create", code),
            node("d", "c", "tool", "Success"),
            node("u2", "d", "user", "Change"),
            call("e", "u2", "update", {"updates": [{"pattern": "museum", "replacement": "harbour"}]}),
            done("f", "e", "1", "Travel plan"),
            call("g", "f", "comment", {"comments": [{"pattern": "harbour", "comment": "Which one?"}]}),
            node("h", "g", "tool", "Success"),
            call("i", "h", "create", {"content": 7}),
            node("j", "i", "assistant", "Done."),
            current="j",
        )
    )
    assert [text for _, role, text, _ in messages_of(conversation) if role == "model"] == [
        "**Document “Travel plan”**\n\n- Day 2: museum\n\n**Document “tool”**\n\n```python\nprint(1)\n```",
        "**Document “Travel plan”, version 2**\n\n- Day 2: harbour\n\n"
        "**Comments on the document “Travel plan”**\n\n- “harbour”: Which one?\n\n"
        '```json\n{"content": 7}\n```\n\nDone.',
    ]


@pytest.mark.django_db
def test_citation_in_a_canvas_becomes_a_link_and_the_error_of_a_failed_update_is_shown() -> None:
    def call(key: str, parent: str, name: str, value: object, **fields: Any) -> dict[str, Any]:
        content = {"content_type": "code", "language": "json", "text": json.dumps(value)}
        return node(key, parent, "assistant", content=content, recipient=f"canmore.{name}_textdoc", **fields)

    cited = {"name": "a", "type": "document", "content": f"The bridge.{MARK}"}
    change = {"updates": [{"pattern": "bridge", "replacement": "tower"}]}
    (conversation,) = import_conversations(
        conversation_of(
            node("u", None, "user", "Write"),
            call("a", "u", "create", cited, metadata=reference(MARK, BRIDGE)),
            node("b", "a", "tool", "Done", metadata={"canvas": {"textdoc_id": "1", "title": "A"}}),
            call("c", "b", "update", change),
            node("d", "c", "tool", "Error: not written", metadata={"canvas": {"textdoc_id": "2", "title": "B"}}),
            call("e", "d", "update", change),
            node("f", "e", "tool", "Error: not written"),
            current="f",
        )
    )
    answer = Message.objects.get(conversation=conversation, role="model")
    assert answer.text.startswith(
        f"**Document “A”**\n\nThe bridge. ({BRIDGE_LINK})\n\n**Changes to the document “Untitled”**"
    )
    assert answer.parts.get(kind="thought").text == "Error: not written"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"name": "a", "type": "document", "content": "# One\\nTwo', "# One\nTwo"),
        ('{"name": "a", "type": "document", "content": "# One\nTwo"}', "# One\nTwo"),
        ('{"name": "a", "type": "document", "content": "# One"', "# One"),
    ],
)
def test_canvas_call_that_was_stopped_or_has_raw_line_breaks_is_read(text: str, content: str) -> None:
    read = read_call("canmore.create_textdoc", text, None)
    assert read is not None
    assert read[0] == Document("a", "document", content)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Plain", ["Plain"]),
        ({"parts": ["No type"]}, ["No type"]),
        ({"content_type": "text", "parts": "One"}, ["One"]),
        ({"content_type": "text", "text": ["One", "Two"]}, ["One\n\nTwo"]),
        ({"content_type": "text", "parts": [1]}, ["(A part of kind `?` was not imported.)"]),
        ({"content_type": 7, "text": "One"}, ["One"]),
        ({"content_type": "thoughts", "thoughts": ["Hm"]}, ["Hm"]),
        ({"content_type": "thoughts", "thoughts": [{"summary": None, "content": "Hm"}]}, ["Hm"]),
        (
            {"content_type": "new_widget", "parts": [{"text": "Inner"}]},
            ["Inner\n\n(A part of kind `new_widget` was not imported.)"],
        ),
        (
            {"content_type": "tether_quote", "title": "T", "url": "https://example.org/t", "text": "Said"},
            ["[T](https://example.org/t)\n\nSaid"],
        ),
        (
            {"parts": ['Here:\n:::writing{variant="email" id="1" subject="A *plan*"}\nDear all,\n:::\n\n:::\nDone.']},
            ["Here:\n\n**A \\*plan\\***\n\nDear all,\n\n\n:::\nDone."],
        ),
    ],
)
@pytest.mark.django_db
def test_content_in_an_unusual_form_is_read_or_replaced_by_a_sentence(content: object, expected: list[str]) -> None:
    tree = conversation_of(node("u", None, "user", "Hi"), node("a", "u", "assistant"), title=5)
    tree["mapping"]["a"]["message"] |= {"content": content, "metadata": [], "recipient": None}
    tree["mapping"]["x"] = None
    (conversation,) = import_conversations({"mapping": None}, tree)
    answer = conversation.messages.get(role="model")
    assert [part.text for part in answer.parts.all()] == expected


@pytest.mark.django_db
def test_message_with_an_unknown_role_becomes_a_thought_and_failed_code_has_its_error() -> None:
    error = {"name": "ZeroDivisionError", "args": ["division by zero"]}
    result = {"status": "failed_with_in_kernel_exception", "in_kernel_exception": error}
    (conversation,) = import_conversations(
        conversation_of(
            node("u", None, "user", "Hi"),
            node("f", "u", "function", "A result"),
            node("c", "f", "assistant", content={"content_type": "code", "text": "1/0"}, recipient="python"),
            node("o", "c", "tool", content={"content_type": "execution_output", "text": ""},
                 metadata={"aggregate_result": result}),
        )
    )  # fmt: skip
    thought, _, output = conversation.messages.get(role="model").parts.all()
    assert (thought.kind, thought.text) == ("thought", "A result")
    assert (output.text, output.data["outcome"]) == ("ZeroDivisionError: division by zero", "OUTCOME_FAILED")


UNKNOWN = {"content_type": "new_widget", "value": 7, "text": ["x"]}


@pytest.mark.django_db
def test_sentence_replaces_unknown_content_and_the_imported_answer_has_no_provider() -> None:
    mixed = {"content_type": "multimodal_text", "parts": [{"content_type": "hologram"}, "Look"]}
    (conversation,) = import_conversations(
        conversation_of(
            node("u", None, "user", content=mixed),
            node("w", "u", "assistant", content=UNKNOWN),
            node("a", "w", "assistant", f"Shown.{MARK}", metadata=reference(MARK, BRIDGE)),
            current="a",
        )
    )
    assert [text for _, _, text, _ in messages_of(conversation)] == [
        "(A part of kind `hologram` was not imported.)\n\nLook",
        f"(A part of kind `new_widget` was not imported.)\n\nShown. ({BRIDGE_LINK})",
    ]
    turn = Message.objects.get(role="model").turn
    assert (turn.provider, turn.model, turn.sources) == ("", "gpt-4o", [BRIDGE])
    markdown = exported_bytes(conversation, "md").decode()
    assert "Model: gpt\\-4o; no code" in markdown or "Model: gpt-4o; no code" in markdown
    assert "gemini" not in markdown
    again = import_file(exported_bytes(conversation, "json"), owner_id=make_user().pk)
    assert Conversation.objects.get(pk=again.created[0]).turns.get().provider == ""


def asset(pointer: str) -> dict[str, Any]:
    return {"content_type": "image_asset_pointer", "asset_pointer": pointer}


def with_files(**fields: Any) -> dict[str, Any]:
    drawn = {"content_type": "multimodal_text", "parts": [asset("file-service://file-Cccc")]}
    plot = {"aggregate_result": {"messages": [{"message_type": "image", "image_url": "file-service://file-Dddd"}]}}
    attached = [
        {"id": "file_0000aaaa", "name": "label.png"},
        {"id": "file-Bbbb", "name": "../../prices.csv"},
        {"id": "file-Gone", "name": "gone.pdf"},
    ]
    question = {"content_type": "multimodal_text", "parts": [asset("sediment://file_0000aaaa"), "What is it?"]}
    return conversation_of(
        node("u", None, "user", content=question, metadata={"attachments": attached}),
        node("a", "u", "assistant", "One."),
        node("t", "a", "tool", content=drawn),
        node("c", "t", "assistant", content={"content_type": "code", "text": "plot()"}, recipient="python"),
        node("o", "c", "tool", content={"content_type": "execution_output", "text": ""}, metadata=plot),
        node("b", "o", "assistant", "Here it is."),
        current="b",
        **fields,
    )


CSV = b"item,price\npen,2\n"
NAMED = {
    "file_0000aaaa-label.png": png("red"),
    "user-Xy12/file-Bbbb-prices.csv": CSV,
    "dalle-generations/file-Cccc-0f0f0f0f-1111-4222-8333-444444444444.webp": png("green"),
    "file-Dddd-11112222-1111-4222-8333-444444444444.png": png("blue"),
}
PACKED = {
    "file_0000aaaa.dat": png("red"),
    "file-Bbbb.dat": CSV,
    "file-Cccc.dat": png("green"),
    "file-Dddd.dat": png("blue"),
    "conversation_asset_file_names.json": json.dumps(
        {"file-Cccc.dat": "dalle-generations/drawn.png", "file-Dddd.dat": "0f0f0f0f-1111-4222-8333-444444444444"}
    ).encode(),
}


@pytest.mark.parametrize(("files", "drawn"), [(NAMED, "image.png"), (PACKED, "drawn.png")])
@pytest.mark.django_db
def test_files_in_the_archive_become_attachments(files: dict[str, bytes], drawn: str) -> None:
    data = zipped({"conversations.json": json.dumps([with_files()]).encode(), **files})
    result = import_file(data, owner_id=make_user().pk)
    question, answer = Message.objects.filter(conversation__in=result.created).order_by("index")
    assert question.text == ("What is it?\n\n(Not imported: file “gone.pdf”. It is not in the archive.)")
    placed = [
        [(row.attachment.name, row.attachment.mime_type, row.part_index, row.attachment.is_graph)
         for row in message.message_attachments.order_by("index")]
        for message in (question, answer)
    ]  # fmt: skip
    assert placed == [
        [("label.png", "image/png", None, False), ("prices.csv", "text/csv", None, False)],
        [(drawn, "image/png", 1, False), ("image.png", "image/png", 3, True)],
    ]
    assert answer.text == "One.\n[IMAGE:0]\n\n[GRAPH:1]\n\n\nHere it is."


VIDEO = {
    "content_type": "real_time_user_audio_video_asset_pointer",
    "audio_asset_pointer": {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_0a"},
    "video_container_asset_pointer": {
        "content_type": "video_container_asset_pointer", "asset_pointer": "sediment://file_0b"
    },
    "frames_asset_pointers": [asset("sediment://73aa#file_0c#p_0.png")],
}  # fmt: skip
IDS = [f"file-{number}f9f9f9f-1111-4222-8333-444444444444" for number in (1, 2)]


@pytest.mark.parametrize("name", ["conversations-000.json", "conversations_1.json", "Conversations (2).json"])
@pytest.mark.django_db
def test_files_are_found_by_every_form_of_their_ids_in_the_export(name: str) -> None:
    attached = [{"id": one, "name": f"{number}.txt"} for number, one in enumerate(IDS)]
    content = {"content_type": "multimodal_text", "parts": [VIDEO, "Look"]}
    tree = conversation_of(node("u", None, "user", content=content, metadata={"attachments": attached}))
    files = {f"{one}-{number}.txt": b"text" for number, one in enumerate(IDS)} | {
        "c-1/audio/file_0a-9f9f9f9f-1111-4222-8333-444444444444.wav": b"RIFF",
        "file_0b.mp4": b"video",
        "user-X/file_0c-sanitized.png": png(),
    }
    import_file(zipped({name: json.dumps([tree]).encode(), **files}), owner_id=make_user().pk)
    names = Attachment.objects.order_by("message_attachments__index").values_list("name", flat=True)
    assert [*names] == ["file.wav", "file.mp4", "image.png", "0.txt", "1.txt"]


@pytest.mark.django_db
def test_sentence_with_the_escaped_name_replaces_a_missing_file() -> None:
    name = "**x** [a](http://example.org)"
    attached = {"attachments": [{"id": "file-Gone", "name": name}]}
    (conversation,) = import_conversations(
        conversation_of(
            node("u", None, "user", "Hi", metadata=attached),
            node("a", "u", "assistant", "[Get it](sandbox:/mnt/data/a_b.csv)", metadata=attached),
        )
    )
    question, answer = conversation.messages.order_by("index")
    reason = "Import the whole archive to get its files.)"
    assert question.text == rf"Hi%s(Not imported: file “\*\*x\*\* &#91;a&#93;(http\://example.org)”. {reason}" % "\n\n"
    client = Client()
    client.force_login(conversation.owner)
    page = client.get(f"/c/{conversation.pk}/").text
    assert f"(Not imported: file “{name}”. {reason}" in page
    assert "<strong>x</strong>" not in page
    assert ">a</a>" not in page
    assert r"(Not imported: file “a\_b.csv”. It is not in the archive.)" in answer.text


@pytest.mark.django_db
def test_sentence_replaces_each_file_if_only_the_json_document_is_imported() -> None:
    result = import_file(json.dumps([with_files()]).encode(), owner_id=make_user().pk)
    text = Message.objects.get(conversation__in=result.created, role="user").text
    assert "(Not imported: image “label.png”. Import the whole archive to get its files.)" in text
    assert "prices.csv" in text


@pytest.mark.django_db
def test_sentence_replaces_a_broken_or_too_large_file_and_the_rest_is_imported() -> None:
    files = {**NAMED, "file_0000aaaa-label.png": b"", "user-Xy12/file-Bbbb-prices.csv": bytes(16 * 1024 * 1024)}
    data = zipped({"conversations.json": json.dumps([with_files()]).encode(), **files})
    result = import_file(data, owner_id=make_user().pk)
    question, answer = Message.objects.filter(conversation__in=result.created).order_by("index")
    assert "(Not imported: image “label.png”. It is broken, empty, or too large.)" in question.text
    assert "prices.csv" in question.text
    assert (question.message_attachments.count(), answer.message_attachments.count()) == (0, 2)


@pytest.mark.django_db
def test_archive_whose_files_are_too_large_together_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused files that were unpacked count too. Otherwise each entry could cost megabytes of work."""
    monkeypatch.setattr(importer, "IN_MEMORY", replace(IN_MEMORY, unpacked_bytes=3 * 1024 * 1024))
    attached = [{"id": f"file-{number}", "name": "bomb.bin"} for number in range(20)]
    conversation = conversation_of(node("u", None, "user", "Hi", metadata={"attachments": attached}))
    bombs = {f"file-{number}.dat": bytes(2 * 1024 * 1024) for number in range(20)}
    with pytest.raises(RefusedImport, match="larger than allowed when it is unpacked"):
        import_file(
            zipped({"conversations.json": json.dumps([conversation]).encode(), **bombs}), owner_id=make_user().pk
        )


@pytest.mark.parametrize(
    "fields",
    [
        {"attachments": [{"id": f"file-{number}", "name": "a.txt"} for number in range(10)]},
        {
            "content_references": [
                {"type": "sources_footnote", "sources": [{"url": "https://example.org/", "title": "t"}]}
            ]
        },
    ],
)
@pytest.mark.django_db
def test_import_is_refused_if_versions_repeat_too_many_files_or_sources(
    fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each version has its own list of files and sources, so a few files or sources could fill the memory."""
    monkeypatch.setattr(chatgpt, "PARTS_LIMIT", 100)
    monkeypatch.setattr(chatgpt, "ANSWERS_LIMIT_CHARS", 200)
    leaves = [node(f"leaf{number}", "long", "assistant", "y") for number in range(10)]
    conversation = conversation_of(
        node("u", None, "user", "Hi"), node("long", "u", "assistant", "x", metadata=fields), *leaves
    )
    files = {f"file-{number}.dat": b"text" for number in range(10)}
    with pytest.raises(RefusedImport, match="too many versions"):
        import_file(
            zipped({"conversations.json": json.dumps([conversation]).encode(), **files}), owner_id=make_user().pk
        )


@pytest.mark.django_db
def test_gzip_and_zip_files_are_not_unpacked_and_excel_files_are_recognized(monkeypatch: pytest.MonkeyPatch) -> None:
    def unpack(name: str, data: bytes) -> None:
        raise AssertionError(name)

    monkeypatch.setattr(validation, "unpack", unpack)
    book = write_xlsx([Sheet("A", [["x"]])])
    files = {"a.xlsx": book, "b.csv.gz": gzip.compress(CSV), "c.zip": zipped({"c.csv": CSV})}
    attached = [{"id": f"file-{number}", "name": name} for number, name in enumerate(files)]
    conversation = conversation_of(node("u", None, "user", "Hi", metadata={"attachments": attached}))
    packed = {f"file-{number}.dat": data for number, data in enumerate(files.values())}
    import_file(zipped({"conversations.json": json.dumps([conversation]).encode(), **packed}), owner_id=make_user().pk)
    assert [row.mime_type for row in Attachment.objects.order_by("name")] == [EXCEL, BINARY, BINARY]
