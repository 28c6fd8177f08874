"""Runs inside a kernel: lets graphs use installed fonts for writing systems that the chosen font lacks."""

from __future__ import annotations

import logging
import sys
import unicodedata
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from chat.python.kernels.in_kernel.import_watch import when_imported

if TYPE_CHECKING:
    from matplotlib.font_manager import FontEntry, FontManager

FAMILIES = (
    (
        "Noto Sans CJK SC",
        "Noto Sans CJK JP",
        "Source Han Sans SC",
        "WenQuanYi Zen Hei",
        "WenQuanYi Micro Hei",
        "SimHei",
    ),
    ("Droid Sans Fallback", "AR PL UMing CN", "IPAGothic"),
    ("Noto Sans CJK KR", "NanumGothic", "UnDotum"),
    ("Noto Sans Devanagari", "Lohit Devanagari", "Mangal", "FreeSans"),
    ("Noto Sans Arabic", "Noto Naskh Arabic", "KacstOne"),
    ("Noto Sans Thai", "Garuda", "Loma"),
    ("Noto Sans Bengali", "Lohit Bengali"),
    ("Noto Sans Tamil", "Lohit Tamil"),
    ("Noto Sans Hebrew",),
    ("Noto Emoji", "Symbola", "Unifont"),
)
"""Rows of fonts for the same writing systems. Of each row, the first installed font is used."""
_CJK_PACKAGE, _OTHER_PACKAGE, _SYMBOL_PACKAGE = "fonts-wqy-zenhei", "fonts-noto-core", "fonts-symbola"
"""Debian packages with fonts for the missing characters."""
_CJK_NAMES = ("CJK", "HANGUL", "HIRAGANA", "KATAKANA", "FULLWIDTH", "HALFWIDTH", "IDEOGRAPHIC", "BOPOMOFO")
"""First words of the Unicode names of Chinese, Japanese and Korean characters."""
_SHOWN_CHARACTERS = 10


class GraphFonts:
    """Adds fonts, and collects the characters that no font has."""

    def __init__(self) -> None:
        """Change matplotlib as soon as it is imported."""
        self._missing: dict[str, None] = {}
        self._noted: set[str] = set()
        when_imported("matplotlib.font_manager", self._add_fallbacks)
        when_imported("matplotlib._text_helpers", self._collect_missing)

    def note(self) -> None:
        """After a cell, print a note about the characters that no font has. Each font package is named only once."""
        packages: dict[str, list[str]] = {}
        for character in self._missing:
            packages.setdefault(_package(character), []).append(character)
        self._missing.clear()
        for package, characters in packages.items():
            if package not in self._noted:
                self._noted.add(package)
                shown = "".join(characters[:_SHOWN_CHARACTERS]) + ("…" if len(characters) > _SHOWN_CHARACTERS else "")
                sys.stderr.write(
                    f"[No font here has these characters, and graphs show boxes in their place: {shown} Whoever runs"
                    f" the server can install the system package {package}.]\n"
                )

    def _collect_missing(self, helpers: ModuleType) -> None:
        def warn_on_missing_glyph(codepoint: int, fontnames: str) -> None:
            if len(self._missing) < 1000:
                self._missing[chr(codepoint)] = None

        vars(helpers)["warn_on_missing_glyph"] = warn_on_missing_glyph

    def _add_fallbacks(self, module: ModuleType) -> None:
        find = module.FontManager._find_fonts_by_props
        known: dict[int, list[str]] = {}

        def find_fonts(manager: FontManager, *arguments: object, **options: object) -> list[str]:
            paths = find(manager, *arguments, **options)
            if any(str(path).endswith(".afm") for path in paths):
                return list(paths)
            count = len(manager.ttflist)
            if count not in known:
                known[count] = _installed(manager.ttflist)
            return [*paths, *(path for path in known[count] if path not in paths)]

        module.FontManager._find_fonts_by_props = find_fonts
        # Hide the warnings about fonts that are not installed: models often choose fonts of other systems, such as
        # SimHei, and the fallback fonts replace them.
        logging.getLogger("matplotlib.font_manager").addFilter(
            lambda record: not record.getMessage().startswith("findfont:")
        )


def _installed(fonts: Sequence[FontEntry]) -> list[str]:
    """Return the paths of DejaVu Sans and of fonts from `FAMILIES`, upright and of normal weight if possible."""
    paths: dict[str, str] = {}
    for font in sorted(fonts, key=lambda font: (font.style == "normal", str(font.weight) in ("400", "normal"))):
        paths[font.name] = font.fname
    chosen = (next((paths[name] for name in names if name in paths), None) for names in FAMILIES)
    default = paths.get("DejaVu Sans")
    return [path for path in dict.fromkeys((default, *chosen)) if path]


def _package(character: str) -> str:
    if unicodedata.name(character, "").startswith(_CJK_NAMES):
        return _CJK_PACKAGE
    return _OTHER_PACKAGE if unicodedata.category(character)[0] in "LMN" else _SYMBOL_PACKAGE
