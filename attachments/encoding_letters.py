"""Finds an encoding by typical letters and symbols, where the frequencies of characters mislead. Pure."""

from __future__ import annotations

import codecs
import re

from attachments.piecewise_decoding import decode

#: Symbols of Windows-1252 where they usually stand, such as before a unit. In other encodings the same bytes are
#: letters, with letters beside them.
_SYMBOLS = re.compile(
    r"(?<![^\W\d_])[°±£€¥§©®¼½¾×÷µ·](?![^\W\d_])|°(?=[CFK]\b)|(?<![^\W\d_])µ(?=[AFgLlmsVW]{1,2}\b)"
    r"|(?<=\bm)[²³]|(?<=\b[cdkm]m)[²³]"
)
_SIGNS = "€„”“–°§\u00a0"
_LANGUAGES = (
    # Hungarian. Windows-1252 reads its ő as õ. Portuguese has õ but no ö and ü, and Estonian has õ but no letters with
    # an acute.
    ("áéíóöőúüűÁÉÍÓÖŐÚÜŰ", ("õÕ", "áíóúÁÍÓÚ", "öüÖÜ")),
    # Czech. Windows-1252 reads its ř as ø. Danish and Norwegian have ø, but not the other letters.
    ("áčďéěíňóřšťúůýžÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ", ("øØ", "ìèòïùÌÈÒÏÙ", "áíýÁÍÝ")),
)
"""For each language its letters, and groups of what Windows-1252 reads instead: a text has a letter of each group."""
_ALPHABETS = [
    (frozenset((letters + _SIGNS).encode("cp1250")), [frozenset(some.encode("cp1252")) for some in needed])
    for letters, needed in _LANGUAGES
]


_WITHIN_WORD = re.compile(r"(?<=[A-Za-z])[^\x00-\x7f](?=[a-z])")
_WESTERN = frozenset("äöüßáéíóúàèìòùâêîôûëïÿñçãõåæøœ")
_POLISH = frozenset("ąćęłńóśźż")
_USUAL = _WESTERN | frozenset("šž–—’‘·…\u00a0\u00ad")
"""Characters that are usual within a word of a text in Windows-1252."""


def find_older(sample: bytes) -> str | None:
    """Return a codec of DOS or old Macs; None if the text is rather Windows-1252.

    The codec is returned if it reads only usual small letters within words, where Windows-1252 reads unusual
    characters.
    """
    is_mac = b"\n" not in sample
    usual = _WESTERN if is_mac else _USUAL
    if usual.issuperset(_WITHIN_WORD.findall(decode(sample, "cp1252", "replace"))):
        return None
    codecs_in_order = [("cp850", _WESTERN), ("cp852", _POLISH), ("mac-roman", _WESTERN)]
    if is_mac:
        codecs_in_order.reverse()
    for codec, letters in codecs_in_order:
        found = _WITHIN_WORD.findall(decode(sample, codec, "replace"))
        if found and letters.issuperset(found):
            return codec
    return None


def read_strictly(data: bytes, codec: str) -> str | None:
    """Return the decoded data, which may end within a character; None if it is not valid in this encoding."""
    try:
        return codecs.getincrementaldecoder(codec)().decode(data)
    except UnicodeDecodeError:
        return None


def is_told_by_symbols(sample: bytes, codec: str) -> bool:
    """Return whether the sample is Windows-1252, although the detector has reported `codec`.

    It is if both read the same text, except for symbols that Windows-1252 reads in their usual places. The detector is
    made for running text, and takes the few symbols of an English table, as in `µm` or `£ 5`, for letters.
    """
    text = read_strictly(sample, "cp1252")
    if text is None:
        return False
    rest = _SYMBOLS.sub("", text)
    return rest != text and read_strictly(rest.encode("cp1252"), codec) == rest


def is_central_european(sample: bytes) -> bool:
    """Return whether all letters above ASCII in a sample of Windows-1252 or -1250 are Hungarian or Czech."""
    found = {byte for byte in sample if byte > 127}
    return any(
        found <= letters and not any(found.isdisjoint(some) for some in needed) for letters, needed in _ALPHABETS
    )
