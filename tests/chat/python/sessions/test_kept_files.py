"""Files that code wrote: listed under the answer, and kept as attachments that outlive the session."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from pytest_django import Settings

from attachments.models import Attachment, PendingUpload
from attachments.store import read_bytes
from attachments.validation import UploadInfo, inspect_file_of_code
from chat.answering.turns.runner import start_turn
from chat.answering.turns.start import RunCode
from chat.models import Conversation, Message, PythonSession, Turn
from chat.models import Part as PartRow
from chat.people.quotas.enforcement import count_usage
from chat.people.quotas.resources import QuotaExceeded, Resource
from chat.python.sessions import control, kept_files
from chat.python.sessions.kept_files import IS_LIVE, FileTooLarge, KeepRefused, KeptFile, NotWritten, keep_file
from chat.python.sessions.session_kernel import NotRunning
from chat.vocabulary.parts import CodeExecutionResult, WrittenFile
from tests.chat.turn_driver import (
    Tab,
    ask_and_wait,
    calls_since,
    count_calls,
    fresh_page,
    make_question,
    new_conversation,
    start_and_wait,
)
from tests.factories import make_attachment

pytestmark = pytest.mark.django_db(transaction=True)

WRITE = "open('out.csv', 'w').write('a,b')"


async def run(conversation: Conversation, code: str, tab: Tab | None = None) -> Turn:
    """Run code of the user."""
    started = start_turn(RunCode(conversation.owner, conversation.pk, code))
    if tab is None:
        return await start_and_wait(started)
    with tab.following():
        return await start_and_wait(started)


async def files_of(turn: Turn) -> list[WrittenFile]:
    """Return the files in the results of a turn."""
    values = [row.value async for row in PartRow.objects.filter(message_id=turn.message_id).order_by("index")]
    return [file for part in values if isinstance(part, CodeExecutionResult) for file in part.files]


async def keep(turn: Turn, name: str = "out.csv") -> KeptFile:
    return await keep_file(await Message.objects.aget(pk=turn.message_id), name)


async def end_session(conversation: Conversation) -> None:
    session = await PythonSession.objects.aget(conversation=conversation)
    assert await control.end(session, "It was ended.")


async def test_files_that_code_wrote_are_listed_on_the_live_page_and_after_a_reload(sessions: Settings) -> None:
    conversation = await new_conversation()
    tab = Tab(conversation.pk)
    turn = await run(conversation, WRITE, tab)
    [file] = await files_of(turn)
    assert (file.name, file.size_bytes, file.is_new) == ("out.csv", 3, True)
    page = await fresh_page(conversation)
    assert tab.page.transcript == page
    assert f'data-name="out.csv" data-size-bytes="3" data-modified-at="{file.modified_at}"' in page
    changed = await run(conversation, "open('out.csv', 'a').write('!')\nopen('2.txt', 'w').close()", tab)
    assert [(one.name, one.size_bytes, one.is_new) for one in await files_of(changed)] == [
        ("2.txt", 0, True),
        ("out.csv", 4, False),
    ]
    assert await files_of(await run(conversation, "1 + 1", tab)) == []
    assert tab.page.transcript == await fresh_page(conversation)


async def test_attached_file_is_listed_under_the_answer_only_if_code_has_changed_it(sessions: Settings) -> None:
    conversation = await new_conversation(model="scenario-function-script", code_execution="on", engine="session")
    file = await database_sync_to_async(make_attachment)(conversation.owner, data=b"a\n", name="a.csv")
    other = await database_sync_to_async(make_attachment)(conversation.owner, data=b"b\n", name="b.csv")
    question = make_question(conversation, "open('b.csv', 'w').write('c\\n')", attachment_ids=[file.pk, other.pk])
    turn = await start_and_wait(start_turn(question))
    assert [(one.name, one.is_new) for one in await files_of(turn)] == [("b.csv", False)]


async def test_kept_file_is_an_attachment_of_the_answer_that_outlives_the_session(sessions: Settings) -> None:
    conversation = await new_conversation()
    turn = await run(conversation, WRITE)
    revision = (await Conversation.objects.aget(pk=conversation.pk)).revision
    kept = await keep(turn)
    assert kept.is_new
    attachment = await Attachment.objects.aget(message_attachments__message=turn.message_id)
    assert (attachment.name, attachment.mime_type, attachment.status) == ("out.csv", "text/csv", "pending")
    assert await PendingUpload.objects.filter(attachment=attachment).aexists()
    assert (await Conversation.objects.aget(pk=conversation.pk)).revision == revision + 1
    page = await fresh_page(conversation)
    assert "Kept as attachment<span data-when-stored" in page
    assert f"/attachments/{attachment.pk}/" in page
    again = await keep(turn)
    assert (again.is_new, again.attachment.pk) == (False, attachment.pk)
    await end_session(conversation)
    assert await database_sync_to_async(read_bytes)(attachment) == b"a,b"
    # The kept file is written into a new kernel.
    turn = await run(conversation, "print(open('out.csv').read())")
    assert "a,b" in await fresh_page(conversation)
    assert await files_of(turn) == []


async def test_type_of_a_kept_file_is_determined_before_the_database_is_locked(
    sessions: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks: list[bool] = []

    def inspect(name: str, data: bytes) -> UploadInfo:
        locks.append(connection.in_atomic_block)
        return inspect_file_of_code(name, data)

    monkeypatch.setattr(kept_files, "inspect_file_of_code", inspect)
    await keep(await run(await new_conversation(), WRITE))
    assert locks == [False]


async def test_attachment_of_a_kept_file_has_the_file_name_without_its_folder(sessions: Settings) -> None:
    conversation = await new_conversation()
    turn = await run(conversation, "import os\nos.makedirs('/mnt/data/out')\nopen('out/sums.csv', 'w').write('a,b')")
    assert [(one.name, one.is_new) for one in await files_of(turn)] == [("out/sums.csv", True)]
    assert 'data-name="out/sums.csv"' in await fresh_page(conversation)
    assert (await keep(turn, "out/sums.csv")).attachment.name == "sums.csv"
    # The file is still there, so that no second one is put into the working directory.
    await run(conversation, "print('copied:', os.path.exists('sums.csv'))")
    assert "copied: False" in await fresh_page(conversation)


async def test_kept_file_does_not_overwrite_what_later_code_wrote(sessions: Settings) -> None:
    conversation = await new_conversation()
    await keep(await run(conversation, WRITE))
    await run(conversation, "print(open('out.csv').read())\nopen('out.csv', 'w').write('newer')")
    await run(conversation, "import os\nprint(open('out.csv').read())\nos.remove('out.csv')")
    await run(conversation, "print(os.path.exists('out.csv'))")
    outputs = [
        row.text
        async for row in PartRow.objects.filter(
            message__conversation=conversation, kind="code_execution_result"
        ).order_by("message__index")
    ]
    assert outputs == ["3\n", "a,b\n5\n", "newer\n", "False\n"]


async def test_kept_file_is_sent_in_the_next_request_to_a_model_that_does_not_use_the_session(
    sessions: Settings,
) -> None:
    conversation = await new_conversation(model="scenario-code", code_execution="on", engine="native")
    await keep(await run(conversation, WRITE))
    before = count_calls(sessions.GOOGLE_GEMINI_BASE_URL)
    await ask_and_wait(conversation, "What is in it?")
    contents = calls_since(sessions.GOOGLE_GEMINI_BASE_URL, before)[0]["request"]["contents"]
    sent = [part for content in contents for part in content["parts"]]
    [text] = [part["text"] for part in sent if "I have kept" in part.get("text", "")]
    assert text == "[Files that the code wrote, and that I have kept: out.csv]"
    assert [part["inlineData"]["mimeType"] for part in sent if "inlineData" in part] == ["text/csv"]


async def test_kept_file_is_not_sent_to_the_model_if_results_need_approval(sessions: Settings) -> None:
    sessions.RESULTS_NEED_APPROVAL = True
    conversation = await new_conversation(model="scenario-code", code_execution="on", engine="native")
    await keep(await run(conversation, WRITE))
    before = count_calls(sessions.GOOGLE_GEMINI_BASE_URL)
    await ask_and_wait(conversation, "What is in it?")
    assert "inlineData" not in str(calls_since(sessions.GOOGLE_GEMINI_BASE_URL, before))


async def test_file_cannot_be_kept_after_its_session_has_ended(sessions: Settings) -> None:
    conversation = await new_conversation()
    turn = await run(conversation, WRITE)
    await end_session(conversation)
    with pytest.raises(NotRunning):
        await keep(turn)
    await run(conversation, "1")
    with pytest.raises(FileNotFoundError):
        await keep(turn)
    assert not await Attachment.objects.aexists()


async def test_error_says_why_a_file_cannot_be_kept(sessions: Settings) -> None:
    conversation = await new_conversation()
    turn = await run(conversation, f"{WRITE}\nopen('large.bin', 'wb').write(b'\\0' * 2_000_000)")
    with pytest.raises(NotWritten):
        await keep(turn, "other.csv")
    sessions.UPLOAD_LIMIT_BYTES = 1_048_576
    with pytest.raises(FileTooLarge, match=r"“large\.bin” is too large: a file may have 1 MB\. Download it instead\."):
        await keep(turn, "large.bin")
    await database_sync_to_async(count_usage)(conversation.owner_id, Resource.UPLOADS, 4096 * 1024**2 - 1)
    with pytest.raises(QuotaExceeded, match=r"which is too much\. You have uploaded 4 GB today"):
        await keep(turn)
    await Turn.objects.filter(pk=turn.pk).aupdate(status=Turn.Status.WAITING)
    with pytest.raises(KeepRefused, match=IS_LIVE):
        await keep(turn)
    assert not await Attachment.objects.aexists()
    session = await PythonSession.objects.aget(conversation=conversation)
    assert not session.is_busy


async def test_zip_archives_and_images_can_be_kept(sessions: Settings) -> None:
    conversation = await new_conversation()
    code = (
        "import zipfile\nimport matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('p.png')\n"
        "zipfile.ZipFile('z.zip', 'w').close()"
    )
    turn = await run(conversation, code)
    types = {name: (await keep(turn, name)).attachment for name in ("p.png", "z.zip")}
    assert types["z.zip"].mime_type == "application/octet-stream"
    assert types["p.png"].mime_type == "image/png"
    assert types["p.png"].width
    # The first attachment is the graph.
    assert [(link.index, link.part_index) async for link in types["p.png"].message_attachments.all()] == [(1, None)]
    assert [(link.index, link.part_index) async for link in types["z.zip"].message_attachments.all()] == [(2, None)]
