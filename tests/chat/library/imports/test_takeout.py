"""Gemini's activity in Google's Takeout, as JSON and as HTML, in several languages of its reader."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest

from chat.library.imports.chatgpt_files import ArchiveFiles
from chat.library.imports.html_markdown import html_to_markdown
from chat.library.imports.importer import import_file
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.large_files import read_conversations
from chat.library.imports.records import ParsedConversation
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.takeout import find_documents, is_takeout_html, parse_activities, parse_html
from chat.library.imports.takeout_times import read_time
from chat.models import Conversation, Message
from tests.chat.library.exports.samples import png
from tests.chat.library.imports.documents import zipped
from tests.factories import make_user

PICTURE = "image_89b1bd-1e9873211d1a6157.png"


def entry(title: str, time: str, *answers: str, **fields: Any) -> dict[str, Any]:
    """Return an entry of `MyActivity.json`."""
    activity = {
        "header": "Gemini Apps",
        "title": title,
        "time": f"2026-02-02T{time}Z",
        "products": ["Gemini Apps"],
        "activityControls": ["Gemini Apps Activity"],
    }
    return activity | ({"safeHtmlItem": [{"html": answer} for answer in answers]} if answers else {}) | fields


def cell(activity: str, time: str, answer: str = "", conversation: str = "", product: str = "Gemini Apps") -> str:
    """Return an entry of `MyActivity.html`."""
    link = f"https://gemini.google.com/app/{conversation}"
    details = f'<b>Details:</b><br>&emsp;<a href="{link}">{link}</a><br>' if conversation else ""
    body = "content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1"
    return (
        '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
        f'<div class="header-cell mdl-cell mdl-cell--12-col"><p class="mdl-typography--title">{product}<br></p></div>'
        f'<div class="{body}">{activity}<br>{time}<br>{answer}</div>'
        f'<div class="{body} mdl-typography--text-right"></div>'
        '<div class="content-cell mdl-cell mdl-cell--12-col mdl-typography--caption"><b>Products:</b><br>&emsp;'
        f"{product}<br>{details}<b>Why is this here?</b><br>&emsp;It was saved.</div></div></div>"
    )


def page(*cells: str) -> bytes:
    style = "<style>.mdl-grid{display:flex}</style>"
    return f"<html><head><title>x</title>{style}</head><body>{''.join(cells)}</body></html>".encode()


def of_json(*entries: dict[str, Any]) -> list[ParsedConversation]:
    return [*parse_activities(JSONValue([*entries]), ArchiveFiles())]


def of_html(*cells: str) -> list[ParsedConversation]:
    return [*parse_html(page(*cells), ArchiveFiles())]


def texts(conversation: ParsedConversation) -> list[str]:
    return [message.text for message in conversation.messages]


def test_questions_with_short_pauses_form_one_conversation_with_a_note_about_this() -> None:
    first, second = of_json(
        entry("Prompted And now?", "09:00:00.100", "<p>C</p>"),
        entry("Prompted Why?", "07:40:00.500", "<p>B</p>"),
        entry("Prompted How?", "07:24:02.806", "<p>A <strong>b</strong></p>"),
    )
    assert (texts(first), texts(second)) == (["How?", "A **b**", "Why?", "B"], ["And now?", "C"])
    assert (first.title, first.created_at) == ("How?", datetime(2026, 2, 2, 7, 24, 2, tzinfo=UTC))
    assert first.messages[1].parts[0].long_text == (
        "Google's file does not say which questions belong together. Those with at most 30 minutes between them form"
        " this conversation."
    )
    assert all(message.is_shown for message in first.messages)


def test_conversation_ids_in_the_file_are_used_instead_of_pauses() -> None:
    conversations = of_html(
        cell("Prompted\xa0Third", "Nov 7, 2025, 1:00:00\u202fAM CET", "<p>C</p>", "abc12345"),
        cell("Prompted\xa0Other", "Nov 5, 2025, 1:00:10\u202fAM CET", "<p>X</p>", "def12345"),
        cell("Prompted\xa0First", "Nov 5, 2025, 1:00:00\u202fAM CET", "<p>A</p>", "c_abc12345"),
    )
    assert [texts(one) for one in conversations] == [["First", "A", "Third", "C"], ["Other", "X"]]
    assert [one.source_id for one in conversations] == [f"gemini conversation {key}12345" for key in ("abc", "def")]
    assert conversations[0].created_at == datetime(2025, 11, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("label", "time"),
    [
        ("Prompted\xa0", "Nov 5, 2025, 1:34:47\u202fAM CET"),
        ("Poslali ste poziv:\xa0", "5. nov. 2025, 01:34:47 CET"),
        ("Eingegebener Prompt: ", "05.11.2025, 01:34:47 MEZ"),
        ("送信したメッセージ: ", "2025/11/05 9:34:47 JST"),
        ("Prompted ", "2025年11月5日 08:34:47 HKT"),
        ("已发送提示：", "2025年11月5日 GMT+8 08:34:47"),
        ("Requête envoyée\xa0: ", "5 nov. 2025, 01:34:47 CET"),
    ],
)
def test_labels_and_times_in_several_languages_are_read(label: str, time: str) -> None:
    (conversation,) = of_html(
        cell(f"{label}Ab: c?", time, "<p>Yes</p>"), cell(f"{label}Hi &amp;\nyou", time, "<p>No</p>")
    )
    assert texts(conversation) == ["Hi &\nyou", "No", "Ab: c?", "Yes"]
    assert conversation.created_at == datetime(2025, 11, 5, 0, 34, 47, tzinfo=UTC)


def test_entry_whose_title_has_no_known_prefix_becomes_a_question_with_the_whole_title() -> None:
    (conversation,) = of_json(entry("Begin: one", "07:00:00", "<p>A</p>"), entry("Two", "07:01:00", "<p>B</p>"))
    assert texts(conversation) == ["Begin: one", "A", "Two", "B"]


def test_line_that_looks_like_a_time_stays_part_of_the_question() -> None:
    (conversation,) = of_html(
        cell("Prompted\xa0What is<br>Nov 4, 2025, 1:00:00\u202fPM CET<br>in UTC?", "Nov 5, 2025, 1:00:00\u202fAM CET",
             "<p>12</p>Nov 6, 2025, 1:00:00\u202fPM CET")
    )  # fmt: skip
    assert texts(conversation)[0] == "What is\nNov 4, 2025, 1:00:00\u202fPM CET\nin UTC?"
    assert conversation.created_at == datetime(2025, 11, 5, tzinfo=UTC)


def test_entry_with_an_unreadable_time_is_imported() -> None:
    (conversation,) = of_html(
        cell("Prompted\xa0Two", "Nov 5, 2025, 1:00:00\u202fAM CET", "<p>B</p>"),
        cell("Prompted\xa0One", "5 brumaire 2025, 01:00:00", "<p>A</p>"),
    )
    assert texts(conversation)[1::2] == ["A", "B"]


@pytest.mark.parametrize(
    ("line", "hour"),
    [
        ("10/31/2025, 12:00:01 PM UTC", 12),
        ("31 oct. 2025, 12:00:01 a. m. GMT", 0),
        ("2025. 10. 31. 오후 1:00:01 GMT", 13),
        ("31.10.2025, 13:00:01 GMT+02:00", 11),
        ("31. okt. 2025 13.00.01 GMT", 13),
        ("2025-10-31T13:00:01Z", 13),
        ("2025年10月31日 GMT+8 20:00:01", 12),
        ("2025年10月31日 上午8:00:01 [CST]", 0),
        ("13:00:01 31 thg 10, 2025", 13),
        ("31 ต.ค. 2568 19:00:01 ICT", 12),
        ("٣١ أكتوبر ٢٠٢٥، ٣:٠٠:٠١ م غرينتش+٣", 12),
        ("31 באוק׳ 2025, 14:00:01 GMT+2", 12),
        ("31 अक्टू॰ 2025, 5:30:01 am IST", 0),
        ("31 Οκτ 2025, 2:00:01 μ.μ. EET", 12),
        ("31 жовт. 2025 р., 02:00:01 EET", 0),
        ("31. 10. 2025 1:00:01 SEČ", 0),
        ("۳۱ اکتبر ۲۰۲۵،\u200f ۱۵:۳۰:۰۱ (\u200e+۳:۳۰ گرینویچ)", 12),
        ("৩১ অক্টো, ২০২৫, ৬:০০:০১ PM GMT+6", 12),
        ("31 அக்., 2025, பிற்பகல் 5:30:01 IST", 12),
        ("31. lis 2025. 13:00:01 CET", 12),
        ("At 10:00:00 I was there, in 2025, 3 times", None),
        ("99.99.2025, 10:00:00", None),
        ("31.10.2025, 99:00:00", None),
    ],
)
def test_times_are_read_in_the_formats_of_many_languages(line: str, hour: int | None) -> None:
    assert read_time(line) == (hour if hour is None else datetime(2025, 10, 31, hour, 0, 1, tzinfo=UTC))


def test_activity_without_a_question_becomes_a_note_in_the_previous_answer() -> None:
    (conversation,) = of_json(
        entry("Created Gemini Canvas titled Quiz", "07:03:00", subtitles=[{"name": "print(1)"}]),
        entry("Gave feedback: Good response", "07:02:00"),
        entry("Prompted One", "07:01:00", "<p>A</p>", "<p>Second draft</p>"),
        entry("Prompted Zero", "07:00:00"),
    )
    assert texts(conversation) == [
        "Zero",
        "",
        "One",
        "A\n\nSecond draft\n\n(Google notes here: “Gave feedback: Good response”)\n\n"
        "**Created Gemini Canvas titled Quiz**\n\nprint(1)",
    ]


def test_activity_of_other_google_products_is_left_out() -> None:
    assert of_json(entry("Searched for x", "07:00:00", header="Search", products=["Search"])) == []
    search = page(cell("Searched for\xa0x", "Nov 5, 2025, 1:00:00 AM CET", product="Search"))
    assert not is_takeout_html(search)
    with pytest.raises(RefusedImport, match="cannot be imported"):
        import_file(search, owner_id=0)


def test_activity_documents_are_found_in_folders_with_names_in_any_language() -> None:
    found = ["Takeout/Meine Aktivitäten/Gemini-Apps/MeineAktivitäten.html", "T/我的活动/Gemini Apps/我的活动记录.json"]
    others = [
        "Takeout/My Activity/Search/MyActivity.html",
        "Takeout/My Activity/Gemini Apps/page-0123456789abcdef.html",
    ]
    others.append("All about Gemini/conversation.json")
    assert find_documents([*others, *found, "Takeout/My Activity/Gemini Apps/a.png"]) == found


ATTACHED = {
    "subtitles": [
        {"name": "Attached 2 files."}, {"name": "-  label.png", "url": PICTURE}, {"name": "-  b.pdf", "url": "b-1.pdf"}
    ],
    "imageFile": PICTURE,
    "attachedFiles": [PICTURE, "b-1.pdf"],
}  # fmt: skip
LINKS = f'<br>2 files<br>-  <a href="{PICTURE}">label.png</a><br>-  <a href="b-1.pdf">b.pdf</a>'
DRAWN = '<p>Drawn <img src="drawn-1.png"></p>'


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("MyActivity.json", json.dumps([entry("Prompted Look", "07:00:00", DRAWN, **{
            **ATTACHED, "attachedFiles": [PICTURE, "b-1.pdf", "drawn-1.png"]
        })]).encode()),
        ("MyActivity.html", page(cell(f"Prompted\xa0Look{LINKS}", "2026-02-02T07:00:00Z", DRAWN, "abc12345"))),
    ],
)  # fmt: skip
@pytest.mark.django_db
def test_file_in_the_archive_becomes_an_attachment_and_a_sentence_replaces_a_missing_one(
    name: str, document: bytes
) -> None:
    folder = "Takeout/My Activity/Gemini Apps"
    # The type in the name of a file may differ from that of its entry.
    files = {f"{folder}/{PICTURE}": png("red"), f"{folder}/drawn-1.jpg": png("blue"), f"{folder}/notes.json": b"{}"}
    result = import_file(zipped({f"{folder}/{name}": document, **files}), owner_id=make_user().pk)
    question, answer = Message.objects.filter(conversation__in=result.created).order_by("index")
    assert question.text == "Look\n\n(Not imported: file “b.pdf”. It is not in the archive.)"
    assert [row.attachment.name for row in question.message_attachments.all()] == ["label.png"]
    assert answer.text.startswith("Drawn")
    assert answer.message_attachments.get().attachment.mime_type == "image/png"


@pytest.mark.django_db
def test_later_activity_continues_the_conversation_and_the_same_activity_as_html_adds_nothing() -> None:
    owner = make_user().pk
    entries = [
        entry("Prompted One", "07:00:00.806", "<p>A</p>"),
        entry("Prompted Two", "07:10:00", "<p>B</p>"),
        entry("Prompted Later", "09:00:00", "<p>C</p>"),
    ]
    first = import_file(json.dumps(entries[:1]).encode(), owner_id=owner)
    grown = import_file(json.dumps(entries[::-1]).encode(), owner_id=owner)
    html = page(cell("Prompted\xa0One", "Feb 2, 2026, 8:00:00\u202fAM CET", "<p>A</p>"))
    again = import_file(html, owner_id=owner)
    assert (len(first.created), grown.continued, len(grown.created)) == (1, first.created, 1)
    assert (again.created, again.existing, again.continued) == ((), first.created, ())
    conversation = Conversation.objects.get(pk=first.created[0])
    rows = conversation.messages.order_by("index").values_list("text", "is_shown")
    assert [*rows] == [("One", True), ("A", True), ("Two", True), ("B", True)]


def test_html_becomes_markdown_with_known_elements_only() -> None:
    html = (
        "<h2>Steps &amp; x</h2><p>Use <em>that</em>, <a href='https://e.org/a_(b)'>docs</a>"
        " <a href='javascript:x'>bad</a><br>Next * <code>d`e</code></p>"
        "<ul><li><p>First</p><pre><code class='language-python'>x = 1\n  y</code></pre></li>"
        "<li>Second<ol><li>in</li></ol></li></ul><table><tr><th>A</th><th>B</th></tr><tr><td>1|2</td></tr></table>"
        "<blockquote><p>q</p></blockquote><script>alert(1)</script><p>&lt;b&gt;<img src=x onerror=alert(1)></p>"
    )
    assert html_to_markdown(html) == (
        "## Steps \\& x\n\nUse *that*, [docs](<https://e.org/a_(b)>) bad\\\nNext \\* ``d`e``\n\n"
        "- First\n\n  ```python\n  x = 1\n    y\n  ```\n- Second\n\n  1. in\n\n"
        "| A | B |\n| --- | --- |\n| 1\\|2 |  |\n\n> q\n\n\\<b\\>"
    )


@pytest.mark.parametrize("piece", ["<ul><li>x", "<blockquote>", "<b a=1><b b=2>", "<table><tr><td>", "<a ", "<i> </i>"])
def test_length_of_markdown_from_hostile_html_is_limited(piece: str) -> None:
    assert len(html_to_markdown(piece * 20_000)) < 40 * 20_000


@pytest.mark.parametrize(
    "fields",
    [{"title": 7}, {"safeHtmlItem": [{"html": 7}]}, {"safeHtmlItem": ["x"]}],
)
def test_error_contains_the_json_path_of_an_invalid_value(fields: dict[str, Any]) -> None:
    with pytest.raises(RefusedImport, match=r"^\$\[0\]\."):
        of_json(entry("Prompted One", "07:00:00") | fields)


def test_progress_is_the_share_of_the_conversations_read_so_far() -> None:
    cells = [
        cell("Prompted\xa0Hello", f"Feb {day}, 2026, 9:00:00 AM UTC", "<p>Yes.</p>", f"{day}")
        for day in range(4, 0, -1)
    ]
    assert [entry.share for entry in read_conversations(BytesIO(page(*cells)), "MyActivity.html")] == [
        0.25,
        0.5,
        0.75,
        1,
    ]
