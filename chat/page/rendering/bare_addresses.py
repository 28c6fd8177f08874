"""Ends a bare web address in Chinese, Japanese or Korean text before the first letter or punctuation mark of that text.

The punctuation marks of Arabic and Indian scripts end an address, too.

The parser ends an address at a space or `<`, and links one without a scheme only after a space. An address in `<…>` or
in the parentheses of a link stays whole, because masks in it are removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chat.page.rendering.source_masks import Edit

CJK_LETTERS = (
    r"\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u30fa\u30fc-\u318f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Ranges for a character set of a regular expression."""
_CJK = (
    rf"{CJK_LETTERS}\u00ab\u00bb\u060c\u061b\u061f\u06d4\u0964\u0965"
    r"\u2014\u2018-\u201f\u2026\u3000-\u30ff\ufe30-\ufe4f\uff00-\uffef"
)
_ADDRESS = re.compile(rf"<?(?:(?:https?|ftp)://|www\.)(?:[{CJK_LETTERS}]{{1,60}}\.)?[^\s<{_CJK}]*+", re.IGNORECASE)
_CJK_CHARACTER = re.compile(f"[{_CJK}]")


def address_edits(line: str) -> Iterator[Edit]:
    """Yield edits that show the parser where the bare addresses of a line begin and end."""
    for match in _ADDRESS.finditer(line):
        if match[0][0] == "<":
            continue
        if match[0][0] in "wW" and _CJK_CHARACTER.match(line[match.start() - 1 : match.start()]):
            yield Edit.address_start(match.start())
        if _CJK_CHARACTER.match(line, match.end()):
            yield Edit.address_end(match.end())
