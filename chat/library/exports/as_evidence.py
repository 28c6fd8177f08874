"""The format `evidence`: the archive of `zip` with hashes of all files, signed by the server's key.

evidence.json   each block of code with hashes of its code and output, its verdict, and the packages that code finds
numbers.json    the ledger of each answer: where its numbers come from
manifest.json   the size and the hash of every other file
manifest.sig    the signature of the manifest

The comment of the archive signs all of it. `verify_evidence` checks it without the server.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

from django.conf import settings

from chat.library.exports import as_zip
from chat.library.exports.download import Download
from chat.library.exports.evidence_key import fingerprint, sign, signed_archive
from chat.library.exports.export_format import ExportFormat
from chat.library.exports.file_names import file_stem
from chat.library.exports.source import ExportSource
from chat.library.exports.verify_evidence import MANIFEST, MANIFEST_SIGNATURE
from chat.library.exports.zip_stream import ZipEntry, stream_zip
from chat.messages.number_ledgers import find_ledger, store_ledger
from chat.messages.records import MessageRecord
from chat.python.kernels.interpreter import InterpreterUnavailable, find_interpreter
from chat.python.reruns.recorded_runs import recorded_run
from chat.vocabulary.parts import Engine, ExecutableCode, JSONObject, Role


def export(source: ExportSource) -> Download:
    """Export one conversation."""
    name = f"{file_stem(source.conversation.title)}-evidence.zip"
    return Download(name, as_zip.ZIP_TYPE, signed_archive(stream_zip(_entries(source))))


DESCRIPTION = "The archive, with hashes and a signature"
FORMAT = ExportFormat("evidence", "Evidence pack", DESCRIPTION, (as_zip.ZIP_TYPE,), export)


def _entries(source: ExportSource) -> Iterator[ZipEntry]:
    files: JSONObject = {}
    for entry in as_zip.entries(source, ""):
        yield _counted(entry, files)
    yield _counted(ZipEntry("evidence.json", iter([_encode(_evidence(source))])), files)
    yield _counted(ZipEntry("numbers.json", _ledgers(source)), files)
    manifest = _encode({"files": files})
    yield ZipEntry(MANIFEST, iter([manifest]))
    yield ZipEntry(MANIFEST_SIGNATURE, iter([sign(manifest).encode()]))


def _counted(entry: ZipEntry, files: JSONObject) -> ZipEntry:
    """Return the entry. When its last chunk has been sent, its size and hash are added to `files`."""

    def chunks() -> Iterator[bytes]:
        hashed, size_bytes = hashlib.sha256(), 0
        for chunk in entry.chunks:
            hashed.update(chunk)
            size_bytes += len(chunk)
            yield chunk
        files[entry.path] = {"size_bytes": size_bytes, "sha256": hashed.hexdigest()}

    return ZipEntry(entry.path, chunks(), entry.is_compressed)


def _encode(value: JSONObject) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


def _evidence(source: ExportSource) -> JSONObject:
    blocks = [block for record in source.messages(shown_only=True) for block in _blocks(record)]
    return {
        "format": "plotline-evidence",
        "version": 1,
        "exported_at": source.exported_at.isoformat(),
        "conversation_id": str(source.conversation.pk),
        "key_fingerprint": fingerprint(),
        "packages": _packages() if any(block["engine"] == Engine.SESSION for block in blocks) else None,
        "blocks": [*blocks],
    }


def _blocks(record: MessageRecord) -> Iterator[JSONObject]:
    reruns = record.message.reruns or {}
    for index, part in enumerate(record.parts):
        run = recorded_run(record.parts, index)
        if run is None or not isinstance(part, ExecutableCode):
            continue
        state = reruns.get(str(index), {})
        yield {
            "message_id": str(record.message.pk),
            "part_index": index,
            "engine": part.engine.value,
            "code_sha256": hashlib.sha256(run.code.encode()).hexdigest(),
            "output_sha256": hashlib.sha256(run.text.encode()).hexdigest(),
            "outcome": run.outcome,
            # Empty: the block was never run again.
            "verdict": state.get("verdict", ""),
            "detail": state.get("detail", ""),
            "verdict_at": state.get("at"),
        }


def _ledgers(source: ExportSource) -> Iterator[bytes]:
    """Yield a JSON array with the ledger of each shown answer. Numbers that were not traced before are traced now."""
    mark = b"[\n"
    for record in source.messages(shown_only=True):
        message = record.message
        if message.role == Role.MODEL and (ledger := find_ledger(message.pk) or store_ledger(message.pk)):
            values: JSONObject = {
                "message_id": str(message.pk),
                "numbers": ledger.numbers,
                "without_source": ledger.without_source,
                "unread_files": ledger.unread_files,
            }
            yield mark + _encode(values)
            mark = b",\n"
    yield b"\n]" if mark == b",\n" else b"[]"


def _packages() -> JSONObject | None:
    """Return packages and versions that are installed for code of sessions; `None` if this server does not run it."""
    if settings.JUPYTER_GATEWAY_URL:
        return None
    try:
        executable = Path(find_interpreter().executable)
    except InterpreterUnavailable:
        return None
    folders = [str(path) for path in executable.parent.parent.glob("lib/python3*/site-packages")]
    return {one.name: one.version for one in distributions(path=folders)}
