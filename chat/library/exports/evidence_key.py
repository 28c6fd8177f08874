"""The key with which this server signs evidence packs. It is derived from `SECRET_KEY`, and changes with it."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from chat.library.exports.verify_evidence import END_BYTES, TITLE, fingerprint_of

_END_OF_ARCHIVE_BYTES = 22
"""Length of the last record of a zip archive without a comment. Its last two bytes are the length of the comment."""


def _private_key() -> Ed25519PrivateKey:
    seed = HKDF(SHA256(), 32, salt=None, info=b"plotline evidence pack").derive(settings.SECRET_KEY.encode())
    return Ed25519PrivateKey.from_private_bytes(seed)


def public_key() -> bytes:
    """Return the public key: 32 bytes."""
    return _private_key().public_key().public_bytes_raw()


def fingerprint() -> str:
    """Return the fingerprint of the key: 64 hexadecimal digits."""
    return fingerprint_of(public_key())


def sign(message: bytes) -> str:
    """Return the signature of a message in hexadecimal."""
    return _private_key().sign(message).hex()


def signed_archive(chunks: Iterator[bytes]) -> Generator[bytes]:
    """Yield a zip archive with a comment that ends with the signature of all bytes before it."""
    hashed, held_back = hashlib.sha256(), b""
    for chunk in chunks:
        block = held_back + chunk
        sent, held_back = block[:-_END_OF_ARCHIVE_BYTES], block[-_END_OF_ARCHIVE_BYTES:]
        hashed.update(sent)
        yield sent
    end = held_back[:-2] + END_BYTES.to_bytes(2, "little") + TITLE + public_key().hex().encode() + b"\n"
    hashed.update(end)
    yield end + sign(hashed.digest()).encode()
