"""Languages whose syntax resembles C's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chat.page.rendering.grammars.tokens import (
    ANNOTATION,
    BACKQUOTED,
    BLOCK_COMMENT,
    CHARACTER,
    DOUBLE_QUOTED,
    FUNCTIONS,
    NUMBER,
    SINGLE_QUOTED,
    SLASH_COMMENT,
    STRINGS,
    TRIPLE_DOUBLE,
    TRIPLE_SINGLE,
    WORDS,
    Grammar,
    lookup,
)

_DIRECTIVE = ("cp", r"(?m:^)[ \t]{0,20}#[ \t]{0,8}\w++")
_C_TOKENS = (SLASH_COMMENT, BLOCK_COMMENT)
_C_WORDS = "break case continue default do else for goto if return switch while static const enum struct volatile"
_C_CONSTANTS = "true false null nullptr NULL undefined NaN Infinity nil None self this super"
_CLASSES = dict.fromkeys(
    ["class", "struct", "interface", "enum", "trait", "namespace", "object", "protocol", "extension", "impl", "type"],
    "nc",
)


def _c_like(
    keywords: str, *tokens: tuple[str, str], builtins: str = "", introducers: Mapping[str, str] | None = None
) -> Grammar:
    words = lookup(k=f"{_C_WORDS} {keywords}", kc=_C_CONSTANTS, nb=builtins)
    return Grammar((*_C_TOKENS, *tokens, NUMBER, WORDS), words, {**_CLASSES, **(introducers or {})})


_JAVASCRIPT = _c_like(
    "async await catch class const debugger delete export extends finally from function import in instanceof let new"
    " of throw try typeof var void with yield get set",
    STRINGS,
    BACKQUOTED,
    ANNOTATION,
    builtins="Array Boolean Date Error JSON Map Math Number Object Promise Proxy RegExp Set String Symbol WeakMap"
    " console document fetch globalThis module process require window parseInt parseFloat setTimeout"
    " setInterval",
    introducers=FUNCTIONS,
)
_TYPESCRIPT = replace(
    _JAVASCRIPT,
    words={
        **_JAVASCRIPT.words,
        **lookup(
            k="abstract as asserts declare implements infer interface is keyof namespace private protected public"
            " readonly satisfies type unique enum",
            nb="any boolean never number object string unknown bigint symbol Record Partial Readonly Pick Omit",
        ),
    },
)

C_LIKE: dict[str, Grammar] = {
    "c": _c_like(
        "auto extern inline register restrict sizeof typedef union unsigned signed char double float int long short"
        " void bool size_t",
        _DIRECTIVE,
        STRINGS,
        builtins="printf malloc free memcpy strlen FILE uint8_t int32_t uint32_t int64_t uint64_t",
    ),
    "cpp": _c_like(
        "alignas auto bool catch char char8_t class concept consteval constexpr const_cast decltype delete double"
        " dynamic_cast explicit export extern final float friend inline int long mutable namespace new noexcept"
        " operator override private protected public register requires short signed sizeof static_cast template throw"
        " try typedef typename union unsigned using virtual void co_await co_return co_yield",
        _DIRECTIVE,
        STRINGS,
        builtins="std cout cin endl string vector map set unique_ptr shared_ptr size_t",
    ),
    "csharp": _c_like(
        "abstract as async await base bool byte catch char checked class decimal delegate double event explicit"
        " extern finally fixed float foreach get implicit in init int interface internal is lock long namespace new"
        " object operator out override params private protected public readonly record ref required sbyte sealed set"
        " short sizeof stackalloc string throw try typeof uint ulong unchecked unsafe using var virtual void when"
        " where with yield",
        _DIRECTIVE,
        STRINGS,
        builtins="Console List Dictionary Task String Math",
    ),
    "dart": _c_like(
        "abstract as assert async await catch class covariant deferred dynamic export extends external factory final"
        " finally get implements import in is late library mixin new on operator part required rethrow set show hide"
        " sync throw try typedef var void with yield int double bool num",
        ("s", f"r?(?:{TRIPLE_DOUBLE}|{TRIPLE_SINGLE}|{DOUBLE_QUOTED}|{SINGLE_QUOTED})"),
        ANNOTATION,
        builtins="String List Map Set Future Stream Widget print",
    ),
    "go": _c_like(
        "chan defer fallthrough func go import interface map package range select type var",
        STRINGS,
        ("s", r"`[^`]*+`?"),
        builtins="append bool byte cap close complex128 copy delete error float32 float64 int int8 int16 int32 int64"
        " len make new panic print println recover rune string uint uint8 uint16 uint32 uint64 uintptr any"
        " iota",
        introducers={"func": "nf"},
    ),
    "java": _c_like(
        "abstract assert boolean byte catch char class double extends final finally float implements import"
        " instanceof int interface long native new package permits private protected public record sealed short"
        " strictfp synchronized throw throws transient try var void yield",
        ("s", f"{TRIPLE_DOUBLE}|{DOUBLE_QUOTED}|{SINGLE_QUOTED}"),
        ANNOTATION,
        builtins="String System Integer List Map Math Object Override ArrayList HashMap",
    ),
    "javascript": _JAVASCRIPT,
    "kotlin": _c_like(
        "abstract actual annotation as by catch class companion constructor crossinline data expect external final"
        " finally fun get import in infix init inline inner interface internal is lateinit noinline object open"
        " operator out override package private protected public reified sealed set suspend tailrec throw try"
        " typealias val var vararg when where",
        ("s", f"{TRIPLE_DOUBLE}|{DOUBLE_QUOTED}"),
        CHARACTER,
        ANNOTATION,
        builtins="Any Boolean Double Float Int List Long Map Set String Unit listOf mapOf println",
        introducers=FUNCTIONS,
    ),
    "rust": _c_like(
        "as async await box crate dyn extern fn impl in let loop match mod move mut pub ref trait type union unsafe"
        " use where",
        ("s", DOUBLE_QUOTED),
        CHARACTER,
        ("nd", r"#!?\[[^\]\n]*+\]?"),
        ("nb", r"'[^\W\d]\w*+|[^\W\d]\w{0,60}+!(?=[\s(\[{])"),
        builtins="bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Box Option Result Some"
        " Ok Err String Vec HashMap Rc Arc Self",
        introducers={"fn": "nf", "mod": "nc"},
    ),
    "swift": _c_like(
        "actor any as associatedtype async await catch class convenience defer deinit didSet dynamic extension"
        " fallthrough fileprivate final func get guard import in indirect infix init inout internal is lazy let"
        " mutating nonmutating open operator optional override postfix prefix private protocol public repeat required"
        " rethrows set some subscript throw throws try typealias unowned var weak where willSet",
        ("s", f"{TRIPLE_DOUBLE}|{DOUBLE_QUOTED}"),
        ("nd", r"@[^\W\d]\w*+"),
        builtins="Any Array Bool Character Dictionary Double Float Int Set String Void View print",
        introducers=FUNCTIONS,
    ),
    "typescript": _TYPESCRIPT,
}
