"""Checks an evidence pack without its server: `python verify_evidence.py PACK.zip FINGERPRINT`.

Needs Python 3.11 and the package `cryptography`. The fingerprint of the server's key is on its page `/evidence/`. Take
this program from the server, too, not from whoever gave you the pack. It names each file that is not as it was signed,
and exits with 1 if there is one.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MANIFEST = "manifest.json"
MANIFEST_SIGNATURE = "manifest.sig"
TITLE = b"Plotline evidence 1\n"
END_BYTES = len(TITLE) + 64 + 1 + 128
"""Length of the archive's comment: title, public key, and signature of all bytes before it, these in hexadecimal."""
SIGNATURE_BYTES = 128

_COMMENT = re.compile(TITLE + rb"([0-9a-f]{64})\n([0-9a-f]{128})")
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)


def fingerprint_of(public_key: bytes) -> str:
    """Return the fingerprint of a key: 64 digits."""
    return hashlib.sha256(public_key).hexdigest()


def digest(data: bytes) -> bytes:
    """Return the bytes that are signed for an archive: a hash of all its bytes."""
    return hashlib.sha256(data).digest()


def problems(data: bytes, fingerprint: str) -> list[str]:
    """Return a sentence for each thing that is not as the server signed it; an empty list if the pack is unchanged."""
    end = _COMMENT.fullmatch(data[-END_BYTES:])
    if end is None:
        return ["The end of the archive was changed: its comment, with the key and the signature."]
    public_key, signature = (bytes.fromhex(text.decode()) for text in end.groups())
    if fingerprint_of(public_key) != fingerprint:
        return [
            f"The fingerprint of the key in the comment of the archive is {fingerprint_of(public_key)}, not"
            f" {fingerprint}. The comment was changed, or another server has signed the pack."
        ]
    key = Ed25519PublicKey.from_public_bytes(public_key)
    if _is_signed(key, signature, digest(data[:-SIGNATURE_BYTES])):
        return []
    return [*_changed_files(data, key)] or [
        "The files are as they were signed. What lies between them was changed: names, times, the directory of the"
        " archive, or the signature at its end."
    ]


def _is_signed(key: Ed25519PublicKey, signature: bytes, message: bytes) -> bool:
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def _changed_files(data: bytes, key: Ed25519PublicKey) -> Iterator[str]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _UNREADABLE as error:
        yield f"The directory at the end of the archive was changed, so no file can be read ({error})."
        return
    with archive:
        manifest, signature = (_read(archive, name) for name in (MANIFEST, MANIFEST_SIGNATURE))
        if manifest is None or signature is None or not _is_signed(key, _from_hex(signature), manifest):
            yield f"{MANIFEST} or {MANIFEST_SIGNATURE} was changed, so the other files cannot be named."
            return
        files: Mapping[str, Mapping[str, object]] = json.loads(manifest)["files"]
        for name, file in files.items():
            content = _read(archive, name)
            if content is None:
                yield f"{name} is missing, or cannot be read any more."
            elif hashlib.sha256(content).hexdigest() != file["sha256"]:
                yield f"{name} was changed."
        for name in {*archive.namelist()} - {*files, MANIFEST, MANIFEST_SIGNATURE}:
            yield f"{name} was not in the archive when it was signed, or has another name."


def _read(archive: zipfile.ZipFile, name: str) -> bytes | None:
    try:
        return archive.read(name)
    except (KeyError, *_UNREADABLE):
        return None


def _from_hex(text: bytes) -> bytes:
    try:
        return bytes.fromhex(text.decode())
    except ValueError:
        return b""


def main() -> int:
    """Check the pack that the command line names."""
    if len(sys.argv) != 3:
        print("Usage: python verify_evidence.py PACK.zip FINGERPRINT")
        return 2
    fingerprint = re.sub(r"[^0-9a-f]", "", sys.argv[2].lower())
    try:
        found = problems(Path(sys.argv[1]).read_bytes(), fingerprint)
    except OSError as error:
        print(f"The pack cannot be read: {error}")
        return 2
    print("\n".join(found) or "All files are as the server signed them.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
