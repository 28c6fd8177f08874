"""Letters and symbols that tell an encoding where frequencies of characters mislead. Pure."""

from __future__ import annotations

import codecs
import re

from attachments.piecewise_decoding import decode

#: Symbols in their usual places. Letters of other encodings have the same bytes, but other letters beside them.
_SYMBOLS = re.compile(
    r"(?<![^\W\d_])[°±£€¥§©®¼½¾×÷µ·](?![^\W\d_])|°(?=[CFK]\b)|(?<![^\W\d_])µ(?=[AFgLlmsVW]{1,2}\b)"
    r"|(?<=\bm)[²³]|(?<=\b[cdkm]m)[²³]"
)
_SIGNS = "€„”“–°§\u00a0"
_LANGUAGES = (
    # Hungarian. Its ő is õ in Windows-1252, a letter of Portuguese, where ö and ü are not, and of Estonian, where
    # letters with an acute are not.
    ("áéíóöőúüűÁÉÍÓÖŐÚÜŰ", ("õÕ", "áíóúÁÍÓÚ", "öüÖÜ")),
    # Czech. Its ř is ø in Windows-1252, a letter of Danish and Norwegian, where the others are not.
    ("áčďéěíňóřšťúůýžÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ", ("øØ", "ìèòïùÌÈÒÏÙ", "áíýÁÍÝ")),
)
"""Letters of a language of Windows-1250, and letters of Windows-1252 with the same bytes: one of each group occurs."""
_ALPHABETS = [
    (frozenset((letters + _SIGNS).encode("cp1250")), [frozenset(some.encode("cp1252")) for some in needed])
    for letters, needed in _LANGUAGES
]


_WITHIN_WORD = re.compile(r"(?<=[A-Za-z])[^\x00-\x7f](?=[a-z])")
_WESTERN = frozenset("äöüßáéíóúàèìòùâêîôûëïÿñçãõåæøœ")
_POLISH = frozenset("ąćęłńóśźż")
_USUAL = _WESTERN | frozenset("šž–—’‘·…\u00a0\u00ad")
"""Characters within words of Windows-1252 that are in their usual place."""


def find_older(sample: bytes) -> str | None:
    """Return the codec of DOS or of old Macs if it reads small letters within words where Windows-1252 reads others."""
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
    """Return the text of the data, which may end within a character; None if it has another encoding."""
    try:
        return codecs.getincrementaldecoder(codec)().decode(data)
    except UnicodeDecodeError:
        return None


def is_told_by_symbols(sample: bytes, codec: str) -> bool:
    """Return whether the sample differs from Windows-1252 only where that has a symbol in its usual place.

    The detector knows running text, and reads the few symbols of an English table, as in `µm` or `£ 5`, as letters.
    """
    text = read_strictly(sample, "cp1252")
    if text is None:
        return False
    rest = _SYMBOLS.sub("", text)
    return rest != text and read_strictly(rest.encode("cp1252"), codec) == rest


def is_central_european(sample: bytes) -> bool:
    """Return whether a sample in Windows-1252 or -1250 has the letters of Hungarian or Czech and no others."""
    found = {byte for byte in sample if byte > 127}
    return any(
        found <= letters and not any(found.isdisjoint(some) for some in needed) for letters, needed in _ALPHABETS
    )
