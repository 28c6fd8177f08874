"""Scripting languages, and the languages of shells, builds and databases."""

from __future__ import annotations

from dataclasses import replace

from chat.page.rendering.grammars.tokens import (
    BLOCK_COMMENT,
    CHARACTER,
    DOUBLE_QUOTED,
    FUNCTIONS,
    HASH_COMMENT,
    NAME,
    NUMBER,
    SHELL_VARIABLE,
    SINGLE_QUOTED,
    SPACED_HASH_COMMENT,
    STRINGS,
    TRIPLE_DOUBLE,
    TRIPLE_SINGLE,
    WORDS,
    Grammar,
    lookup,
)

_PYTHON = Grammar(
    (
        HASH_COMMENT,
        ("s", f"[bBfFrRuUtT]{{0,2}}(?:{TRIPLE_DOUBLE}|{TRIPLE_SINGLE}|{DOUBLE_QUOTED}|{SINGLE_QUOTED})"),
        ("nd", r"(?m:^)[ \t]{0,64}@[^\W\d][\w.]*+"),
        NUMBER,
        WORDS,
    ),
    lookup(
        k="and as assert async await break class continue def del elif else except finally for from global if import"
        " in is lambda nonlocal not or pass raise return try while with yield match case",
        kc="True False None self cls Ellipsis NotImplemented",
        nb="abs all any bool bytearray bytes callable chr classmethod complex dict dir divmod enumerate eval exec"
        " filter float format frozenset getattr globals hasattr hash help hex id input int isinstance issubclass"
        " iter len list locals map max memoryview min next object oct open ord pow print property range repr"
        " reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip __import__"
        " __name__ __file__ ArithmeticError AssertionError AttributeError BaseException Exception"
        " FileNotFoundError ImportError IndexError KeyError KeyboardInterrupt LookupError ModuleNotFoundError"
        " NameError NotImplementedError OSError RuntimeError StopIteration SyntaxError TypeError"
        " UnicodeDecodeError ValueError ZeroDivisionError",
    ),
    {"def": "nf", "class": "nc"},
)
_BASH = Grammar(
    (
        SPACED_HASH_COMMENT,
        ("s", r"'[^']*+'?"),
        ("s", r'"(?>(?:[^"\\]++|\\[\s\S])*)"?'),
        SHELL_VARIABLE,
        NUMBER,
        (NAME, r"[^\W\d][\w-]*+"),
    ),
    lookup(
        k="if then else elif fi for while until do done case esac in function select time return exit break continue"
        " local export readonly declare",
        nb="echo cd pwd read source alias unset set shift test printf eval exec trap wait kill sudo apt apt-get pip"
        " python python3 git docker make curl wget grep sed awk cat ls mkdir rm cp mv chmod chown find xargs npm"
        " node tar ssh true false",
    ),
    {"function": "nf"},
)
_SQL = Grammar(
    (
        ("c", r"--[^\n]*+"),
        BLOCK_COMMENT,
        ("s", r"'(?>(?:[^']++|'')*)'?"),
        ("nb", r'"[^"\n]*+"?|`[^`\n]*+`?'),
        NUMBER,
        WORDS,
    ),
    lookup(
        k="add all alter analyze and as asc begin between by cascade case check column commit constraint create"
        " cross current database default delete desc distinct drop each else end except exists explain for foreign"
        " from full function grant group having if in index inner insert intersect into is join key left like limit"
        " natural not offset on or order outer over partition primary references replace returning right rollback"
        " row rows select set table temporary then transaction trigger truncate union unique update using values"
        " view when where window with",
        kc="true false null",
        nb="avg bigint blob boolean char coalesce count date datetime decimal double float int integer interval json"
        " jsonb lower max min numeric real serial smallint substring sum text time timestamp upper uuid varchar",
    ),
    ignores_case=True,
)

SCRIPTS: dict[str, Grammar] = {
    "bash": _BASH,
    "console": replace(_BASH, tokens=(("gp", r"(?m:^)[$#%>](?=[ \t])"), *_BASH.tokens)),
    "docker": Grammar(
        (
            SPACED_HASH_COMMENT,
            (
                "k",
                r"(?m:^)[ \t]{0,20}(?i:FROM|RUN|CMD|LABEL|EXPOSE|ENV|ADD|COPY|ENTRYPOINT|VOLUME|USER|WORKDIR|ARG"
                r"|ONBUILD|STOPSIGNAL|HEALTHCHECK|SHELL|MAINTAINER)(?=\s)",
            ),
            STRINGS,
            SHELL_VARIABLE,
            NUMBER,
            (NAME, r"[^\W\d][\w-]*+"),
        ),
        lookup(k="AS as"),
    ),
    "julia": Grammar(
        (
            ("c", r"#=(?>(?:[^=]++|=(?!#))*)(?:=#)?"),
            HASH_COMMENT,
            ("s", f"{TRIPLE_DOUBLE}|{DOUBLE_QUOTED}"),
            CHARACTER,
            ("nd", r"@[^\W\d]\w*+"),
            NUMBER,
            (NAME, r"[^\W\d]\w*+!?"),
        ),
        lookup(
            k="abstract baremodule begin break catch const continue do else elseif end export finally for function"
            " global if import in isa let local macro module mutable primitive quote return struct try type using"
            " where while",
            kc="true false nothing missing Inf NaN pi im",
            nb="Any Array Bool Complex Dict Float32 Float64 Int Int64 Matrix Set String Tuple Vector length map"
            " println print push! size sum zeros ones",
        ),
        {**FUNCTIONS, "struct": "nc", "module": "nc"},
    ),
    "lua": Grammar(
        (
            ("c", r"--\[\[(?>(?:[^\]]++|\](?!\]))*)(?:\]\])?|--[^\n]*+"),
            ("s", r"\[\[(?>(?:[^\]]++|\](?!\]))*)(?:\]\])?"),
            STRINGS,
            NUMBER,
            WORDS,
        ),
        lookup(
            k="and break do else elseif end for function goto if in local not or repeat return then until while",
            kc="true false nil self",
            nb="assert error ipairs next pairs pcall print require select setmetatable string table math io os"
            " tonumber tostring type",
        ),
        FUNCTIONS,
    ),
    "make": Grammar(
        (
            HASH_COMMENT,
            ("nf", r"(?m:^)[^\s:=#$][^:=#\n]{0,200}+(?=:(?!=))"),
            ("na", r"(?m:^)[\w.-]{1,80}+(?=[ \t]{0,8}[:+?!]{0,2}=)"),
            ("nb", r"\$(?:[({][^)}\n]{0,200}+[)}]?|[\w@<^*?+|%$])"),
            STRINGS,
            WORDS,
        ),
        lookup(k="ifeq ifneq ifdef ifndef else endif include define endef export unexport override vpath"),
    ),
    "pycon": replace(_PYTHON, tokens=(("gp", r"(?m:^)(?:>>>|\.\.\.)(?=\s|\Z)"), *_PYTHON.tokens)),
    "python": _PYTHON,
    "pytb": replace(
        _PYTHON,
        tokens=(
            ("gr", r"(?m:^)(?:Traceback \([^\n]{0,40}|[^\W\d][\w.]{0,100}?(?:Error|Exception|Warning|Interrupt)\b)"),
            *_PYTHON.tokens,
        ),
    ),
    "r": Grammar(
        (HASH_COMMENT, STRINGS, NUMBER, (NAME, r"[^\W\d][\w.]*+")),
        lookup(
            k="if else repeat while function for next break in return",
            kc="TRUE FALSE NULL NA NaN Inf T F NA_integer_ NA_real_ NA_character_",
            nb="library require c list data.frame matrix factor length sum mean median sd var print cat paste paste0"
            " seq rep lapply sapply apply plot ggplot aes read.csv summary lm names nrow ncol",
        ),
    ),
    "ruby": Grammar(
        (
            SPACED_HASH_COMMENT,
            STRINGS,
            ("s", r"(?<![:\w]):[^\W\d]\w*+"),
            ("nb", r"@{1,2}\w++|\$\w++"),
            NUMBER,
            WORDS,
        ),
        lookup(
            k="alias and begin break case class def do else elsif end ensure for if in module next not or redo"
            " rescue retry return super then undef unless until when while yield require require_relative include"
            " extend attr_accessor attr_reader attr_writer private protected public raise lambda proc",
            kc="true false nil self",
            nb="puts print p gets loop Array Hash String Integer Struct",
        ),
        {"def": "nf", "class": "nc", "module": "nc"},
    ),
    "sql": _SQL,
}
