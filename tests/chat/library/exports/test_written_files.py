"""Exports name the files that code wrote, and hold those that were kept."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from chat.library.imports.importer import import_file
from chat.library.imports.refusal import RefusedImport
from chat.models import Conversation
from chat.models import Part as PartRow
from chat.vocabulary.parts import PartKind
from tests.chat.library.exports.samples import exported_bytes, session_conversation
from tests.factories import attach, make_attachment, make_user

pytestmark = pytest.mark.django_db

FILES = [
    {"name": "out_*.csv", "size_bytes": 1234, "modified_at": "2026-01-01T00:00:00+00:00", "is_new": True},
    {"name": "kept.csv", "size_bytes": 4, "modified_at": "2026-01-01T00:00:00+00:00", "is_new": False},
]

SENTENCE = r"*Files that the code wrote: out\_\*.csv (1,234 bytes, new), kept.csv (4 bytes, changed)*"


def make_conversation() -> Conversation:
    """Return a conversation whose code wrote two files, one of which was kept."""
    conversation = session_conversation()
    row = PartRow.objects.get(message__conversation=conversation, kind=PartKind.CODE_EXECUTION_RESULT)
    row.data["files"] = FILES
    row.save()
    attach(row.message, make_attachment(conversation.owner, data=b"a,b\n", name="kept.csv"))
    return conversation


def test_markdown_and_notebook_list_the_written_files() -> None:
    conversation = make_conversation()
    markdown = exported_bytes(conversation, "md").decode()
    assert SENTENCE in markdown
    assert "*File: kept.csv, 4 bytes*" in markdown
    cells = json.loads(exported_bytes(conversation, "ipynb"))["cells"]
    assert SENTENCE in cells[-1]["source"]


def test_web_page_lists_the_written_files_and_embeds_those_that_were_kept() -> None:
    html = exported_bytes(make_conversation(), "html").decode()
    assert html.count("<bdi>out_*.csv</bdi>") == 1
    # A link to the bytes, and no button: the file has no script.
    assert '<a href="data:application/octet-stream;base64,YSxiCg==" download="kept.csv">' in html
    assert "<button" not in html.partition('class="written"')[2].partition("</section>")[0]


def test_json_lists_the_written_files_and_the_archive_contains_the_kept_one() -> None:
    conversation = make_conversation()
    document = json.loads(exported_bytes(conversation, "json"))
    [files] = [part["files"] for part in document["messages"][-1]["parts"] if "files" in part]
    assert files == FILES
    archive = zipfile.ZipFile(io.BytesIO(exported_bytes(conversation, "zip")))
    [kept] = [name for name in archive.namelist() if name.endswith("-kept.csv")]
    assert archive.read(kept) == b"a,b\n"
    [markdown] = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".md")]
    assert "[kept.csv](" in markdown


def test_list_of_written_files_is_imported_but_a_path_out_of_the_folder_is_refused() -> None:
    data = exported_bytes(make_conversation(), "json")
    result = import_file(data, owner_id=make_user().pk)
    copy = Conversation.objects.get(pk=result.created[0])
    assert json.loads(exported_bytes(copy, "json"))["messages"][-1]["parts"][4]["files"] == FILES
    assert '<span class="kept">Kept as attachment' in exported_bytes(copy, "html").decode()
    with pytest.raises(RefusedImport, match="there must be the name of a file here"):
        import_file(data.replace(b"out_*.csv", b"../out.csv"), owner_id=make_user("other").pk)


def test_code_that_a_person_ran_is_a_code_block_in_markdown() -> None:
    conversation = make_conversation()
    question = conversation.messages.get(role="user")
    question.text = "```python\nprint('*')\n```"
    question.save()
    assert "\n```python\nprint('*')\n```\n" in exported_bytes(conversation, "md").decode()
