"""Evidence packs: their content, and a check that finds a change of any byte without the server."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.test import Client

from chat.library.exports import verify_evidence
from chat.library.exports.evidence_key import fingerprint
from chat.models import Message, NumberLedger
from tests.chat.library.exports.samples import exported_bytes, rich_conversation
from tests.conftest import Shown

pytestmark = pytest.mark.django_db


def test_evidence_pack_contains_the_archive_with_hashes_and_verdicts_of_reruns() -> None:
    conversation = rich_conversation()
    answer = Message.objects.filter(parts__kind="executable_code").distinct().get()
    answer.reruns = {"2": {"verdict": "reproduced", "detail": "The output is the same.", "at": "2026-11-28T10:00:00"}}
    answer.save(update_fields=["reruns"])
    pack = exported_bytes(conversation, "evidence")
    with zipfile.ZipFile(io.BytesIO(pack)) as archive:
        files = json.loads(archive.read("manifest.json"))["files"]
        assert {*archive.namelist()} == {*files, "manifest.json", "manifest.sig"}
        assert any(name.endswith("sales.csv") for name in files)
        assert "conversation.json" in files
        evidence = json.loads(archive.read("evidence.json"))
        ledgers = json.loads(archive.read("numbers.json"))
    assert evidence["key_fingerprint"] == fingerprint()
    assert [(block["part_index"], block["verdict"]) for block in evidence["blocks"]] == [(2, "reproduced"), (5, "")]
    assert verify_evidence.problems(pack, fingerprint()) == []
    # Answers are traced for the pack.
    answers = Message.objects.filter(conversation=conversation, role="model", is_shown=True).order_by("index")
    assert [one["message_id"] for one in ledgers] == [str(pk) for pk in answers.values_list("pk", flat=True)]
    assert [one["numbers"] for one in ledgers] == [
        *NumberLedger.objects.order_by("message__index").values_list("numbers", flat=True)
    ]


def test_check_of_an_evidence_pack_reports_a_changed_number_ledger() -> None:
    pack = exported_bytes(rich_conversation(), "evidence")
    with zipfile.ZipFile(io.BytesIO(pack)) as archive:
        info = archive.getinfo("numbers.json")
    changed = bytearray(pack)
    # The data follow the header, whose last four bytes are the lengths of the name and of another field.
    header_end = info.header_offset + 30
    lengths = pack[header_end - 4 : header_end]
    data = header_end + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
    changed[data + info.compress_size // 2] ^= 1
    [problem] = verify_evidence.problems(bytes(changed), fingerprint())
    assert problem.startswith("numbers.json ")


def test_evidence_pack_can_be_checked_with_the_program_that_the_server_offers(client: Client, tmp_path: Path) -> None:
    page, program = client.get("/evidence/"), client.get("/evidence/verify_evidence.py")
    assert fingerprint() in page.content.decode()
    (tmp_path / "verify_evidence.py").write_bytes(program.content)
    pack = tmp_path / "pack.zip"
    pack.write_bytes(exported_bytes(rich_conversation(), "evidence"))

    def check(key: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "verify_evidence.py", "pack.zip", key]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    assert (check(fingerprint()).returncode, check("0" * 64).returncode) == (0, 1)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(data)
    changed = check(fingerprint())
    assert (changed.returncode, changed.stdout.count("conversation.")) == (1, 1)


@pytest.mark.parametrize("changes", [40, pytest.param(1_000, marks=pytest.mark.drill)])
def test_check_of_an_evidence_pack_reports_a_change_of_any_byte(changes: int, shown: Shown) -> None:
    pack = exported_bytes(rich_conversation(), "evidence")
    chance = random.Random(changes)
    kinds: dict[str, int] = {}
    for _ in range(changes):
        position = chance.randrange(len(pack))
        changed = bytearray(pack)
        changed[position] ^= chance.randrange(1, 256)
        found = verify_evidence.problems(bytes(changed), fingerprint())
        assert found, position
        kind = found[0] if found[0].startswith("The ") else "a file"
        kinds[kind[:40]] = kinds.get(kind[:40], 0) + 1
    shown(f"changes of one byte: {changes} found; {kinds}")
