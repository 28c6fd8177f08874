"""Languages of documents, styles, data and settings."""

from __future__ import annotations

from dataclasses import replace

from chat.page.rendering.grammars.c_like import C_LIKE
from chat.page.rendering.grammars.tokens import (
    BLOCK_COMMENT,
    DOUBLE_QUOTED,
    NAME,
    NUMBER,
    SLASH_COMMENT,
    STRINGS,
    TRIPLE_DOUBLE,
    TRIPLE_SINGLE,
    WORDS,
    Grammar,
    lookup,
)

_CSS = Grammar(
    (
        BLOCK_COMMENT,
        STRINGS,
        ("k", r"@[\w-]++|![a-z]++"),
        ("m", r"#[0-9a-fA-F]{3,8}(?![\w-])|(?<![\w-])-?(?:\d|\.\d)[\w.%]*+"),
        ("nf", r"[.#][^\W\d][\w-]*+"),
        ("na", r"(?<![\w-])-{0,2}[A-Za-z][\w-]{0,80}+(?=[ \t]{0,8}:[ \t\n])"),
        (NAME, r"[^\W\d][\w-]*+"),
    )
)
_MARKUP_TOKENS = (
    ("c", r"<!--(?>(?:[^-]++|-(?!->))*)(?:-->)?"),
    ("cp", r"<!\[CDATA\[(?>(?:[^\]]++|\](?!\]>))*)(?:\]\]>)?|<[!?][^>]*+>?"),
    ("nt", r"</?[^\W\d][\w:.-]*+|/?>"),
    ("s", r"""(?<==)"[^"]*+"?|(?<==)'[^']*+'?"""),
    ("na", r"(?<=\s)[\w:@.-]{1,80}+(?==)"),
    ("nb", r"&#?\w{1,30}+;"),
    (NAME, r"\w++"),
)
_XML = Grammar(_MARKUP_TOKENS)
_HTML = Grammar(
    (("nt", r"(?i:<(?:script|style)\b)[^>]*+>?"), *_MARKUP_TOKENS),
    embedded={"<script": "script in html", "<style": "style in html"},
)
_COMMENT_IN_SCRIPT = ("c", r"//(?>(?:[^\n<]++|<(?!/script\b))*)")
_END_OF_SCRIPT, _END_OF_STYLE = ("nt", r"(?i:</script\b)>?"), ("nt", r"(?i:</style\b)>?")
_KEY_VALUE_COMMENT = ("c", r"(?<!\S)[#;][^\n]*+")
_SECTION = ("nc", r"(?m:^)[ \t]{0,40}\[[^\]\n]*+\]{0,2}")
_KEY = ("na", r"(?m:^)[ \t]{0,40}+[\w.\"'-]{1,100}+(?=[ \t]{0,8}[=:])")
_LITERALS = lookup(kc="true false null yes no on off True False None nan inf")

DOCUMENTS: dict[str, Grammar] = {
    "css": _CSS,
    "diff": Grammar(
        (
            ("gh", r"(?m:^)(?:diff |index |\+\+\+ |--- )[^\n]*+"),
            ("gu", r"(?m:^)@@[^\n]*+"),
            ("gi", r"(?m:^)[+>][^\n]*+"),
            ("gd", r"(?m:^)[-<][^\n]*+"),
        )
    ),
    "html": _HTML,
    "script in html": replace(
        C_LIKE["javascript"],
        tokens=(_END_OF_SCRIPT, _COMMENT_IN_SCRIPT, *C_LIKE["javascript"].tokens),
        embedded={"</": "html"},
    ),
    "style in html": replace(_CSS, tokens=(_END_OF_STYLE, *_CSS.tokens), embedded={"</": "html"}),
    "ini": Grammar((_KEY_VALUE_COMMENT, _SECTION, _KEY, STRINGS, NUMBER, WORDS), _LITERALS),
    "json": Grammar(
        (
            SLASH_COMMENT,
            BLOCK_COMMENT,
            ("nt", r'"(?>(?:[^"\\\n]|\\[^\n]){0,200})"(?=[ \t]{0,8}:)'),
            ("s", DOUBLE_QUOTED),
            ("m", r"-?\d\w*+(?:\.\d\w*+)?(?:(?<=[eE])[+-]\d++)?"),
            WORDS,
        ),
        lookup(kc="true false null NaN Infinity"),
    ),
    "tex": Grammar(
        (("c", r"%[^\n]*+"), ("k", r"\\(?:[A-Za-z@]++\*?|[^A-Za-z@])"), ("s", r"\${1,2}"), ("nb", r"[{}\[\]&^_~]"))
    ),
    "toml": Grammar(
        (
            _KEY_VALUE_COMMENT,
            _SECTION,
            _KEY,
            ("s", f"{TRIPLE_DOUBLE}|{TRIPLE_SINGLE}|{DOUBLE_QUOTED}|'[^'\\n]*+'?"),
            NUMBER,
            WORDS,
        ),
        _LITERALS,
    ),
    "xml": _XML,
    "yaml": Grammar(
        (
            ("c", r"(?<!\S)#[^\n]*+"),
            ("nt", r"(?m:^)[ \t-]{0,100}+[\w./$\"'][^:#\n]{0,100}+(?=:(?:\s|\Z))"),
            STRINGS,
            ("nd", r"(?<!\S)[&*!][\w!:.-]++"),
            ("m", r"(?<![^\s\[,(-])\d[\d_.]{0,40}+(?![\w:])"),
            (NAME, r"\w++"),
        ),
        _LITERALS,
    ),
}
