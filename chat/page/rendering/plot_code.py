"""Finds the titles, axis labels and kinds of graphs in the Python code that draws them.

The code is parsed and never run. A model may write any code: code that cannot be parsed gives no captions.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TypeGuard

from chat.vocabulary.code_syntax import CODE_LIMIT_CHARS, parse_code

DEPTH_LIMIT = 500
"""Python's parser has a limit that depends on the caller's stack. This lower one gives each caller the same result."""
TEXT_LIMIT_CHARS = 120
CHAIN_LIMIT = 8
"""Maximum number of steps from a method to the name of its object, as in `axes[0].twinx().plot`."""

KINDS = MappingProxyType(
    {
        **dict.fromkeys(("plot", "line", "lineplot", "semilogx", "semilogy", "loglog", "step"), "Line chart"),
        **dict.fromkeys(("scatter", "scatterplot", "regplot"), "Scatter plot"),
        **dict.fromkeys(("bar", "barh", "barplot", "countplot"), "Bar chart"),
        **dict.fromkeys(("hist", "histplot", "histogram"), "Histogram"),
        **dict.fromkeys(("imshow", "matshow"), "Image plot"),
        **dict.fromkeys(("boxplot", "box"), "Box plot"),
        **dict.fromkeys(("violinplot", "violin"), "Violin plot"),
        **dict.fromkeys(("heatmap", "pcolormesh", "pcolor", "hexbin", "hist2d"), "Heat map"),
        **dict.fromkeys(("contour", "contourf", "tricontour", "tricontourf"), "Contour plot"),
        **dict.fromkeys(("fill_between", "stackplot", "area"), "Area chart"),
        **dict.fromkeys(("kdeplot", "kde", "density"), "Density plot"),
        **dict.fromkeys(("plot_surface", "plot_trisurf", "plot_wireframe"), "Surface plot"),
        **dict.fromkeys(("quiver", "streamplot"), "Vector plot"),
        **dict.fromkeys(("annotate", "axhline", "axvline", "draw", "draw_networkx", "add_patch"), ""),
        "errorbar": "Error bar chart",
        "pie": "Pie chart",
        "stem": "Stem plot",
    }
)
FIGURE_KINDS = MappingProxyType(
    {
        "relplot": "Scatter plot",
        "lmplot": "Scatter plot",
        "displot": "Histogram",
        "catplot": "",
        "pairplot": "Pair plot",
        "jointplot": "Joint plot",
        "clustermap": "Heat map",
    }
)
"""Functions that draw into a new figure -> kind of graph."""
OPENERS = frozenset(("figure", "Figure", "subplots", "subplot_mosaic"))
CLOSERS = frozenset(("show", "close"))
TEXT_METHODS = MappingProxyType(
    {
        "title": "title",
        "set_title": "title",
        "suptitle": "main_title",
        "xlabel": "x_label",
        "set_xlabel": "x_label",
        "ylabel": "y_label",
        "set_ylabel": "y_label",
    }
)
TEXT_KEYWORDS = MappingProxyType({"title": "title", "xlabel": "x_label", "ylabel": "y_label"})
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BRANCHES = (ast.If, ast.IfExp, ast.Try, ast.Match)


@dataclass(frozen=True, slots=True)
class Caption:
    """The caption of a graph, from the code that draws it. It is empty if the code contains none."""

    title: str = ""
    kind: str = ""
    """The kind of the graph, such as `Line chart`."""
    x_label: str = ""
    y_label: str = ""


NO_CAPTION = Caption()


def caption_of(code: str, number: int) -> Caption:
    """Return the caption of the graph with this number, counted from 0, among the graphs of this code."""
    captions = _captions(code) if len(code) <= CODE_LIMIT_CHARS else ()
    return captions[number] if number < len(captions) else NO_CAPTION


@lru_cache(maxsize=64)
def _captions(code: str) -> tuple[Caption, ...]:
    """Return the captions of the figures in order; only the first one if their order is not clear from the code."""
    tree = parse_code(code)
    return _CaptionFinder().read(tree) if tree else ()


@dataclass(slots=True)
class _Figure:
    """A figure, while the code is read. The first text of each kind is used."""

    has_content: bool
    kind: str = ""
    texts: dict[str, str] = field(default_factory=dict)

    def caption(self) -> Caption:
        texts = {name: clean_text(text) for name, text in self.texts.items()}
        title = texts.get("main_title") or texts.get("title", "")
        return Caption(title, self.kind, texts.get("x_label", ""), texts.get("y_label", ""))


@dataclass(frozen=True, slots=True)
class _Nesting:
    """The position of a node of the code: its depth, and whether it is in a loop, a function or a branch."""

    depth: int = 0
    is_repeated: bool = False
    """Whether the node is in a loop or function, so that it may run several times, or later."""
    is_conditional: bool = False


class _CaptionFinder:
    """Finds the captions by reading calls in the order of the source text."""

    def __init__(self) -> None:
        self._figures: list[_Figure] = []
        self._current: _Figure | None = None
        self._is_ordered = True
        self._owners: dict[str, _Figure] = {}
        """The figure of each name, such as `ax1`."""
        self._texts: dict[str, str] = {}
        """Name -> its value, for names whose value is a known text."""
        self._targets: dict[ast.Call, list[str]] = {}
        """Call -> names that its result is assigned to."""

    def read(self, tree: ast.Module) -> tuple[Caption, ...]:
        """Return the captions of the figures that the code draws."""
        stack: list[tuple[ast.AST, _Nesting]] = [(tree, _Nesting())]
        while stack:
            node, nesting = stack.pop()
            if nesting.depth > DEPTH_LIMIT:
                return ()
            children = self._visit(node, nesting)
            inner = _Nesting(
                nesting.depth + 1,
                nesting.is_repeated or isinstance(node, LOOPS + FUNCTIONS),
                nesting.is_conditional or isinstance(node, LOOPS + BRANCHES),
            )
            stack += [(child, inner) for child in reversed(children)]
        captions = tuple(figure.caption() for figure in self._figures if figure.has_content)
        return captions if self._is_ordered else captions[:1]

    def _visit(self, node: ast.AST, nesting: _Nesting) -> list[ast.AST]:
        """Read one node, and return the nodes to read after it."""
        match node:
            case ast.Assign(targets=targets, value=value):
                self._assign(targets, value, nesting)
                return [value]
            case ast.Call():
                self._call(node, nesting)
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                self._texts.pop(name, None)
        return list(ast.iter_child_nodes(node))

    def _assign(self, targets: list[ast.expr], value: ast.expr, nesting: _Nesting) -> None:
        names = [node.id for target in targets for node in ast.walk(target) if _is_new_name(node)]
        text = None if nesting.is_conditional else self._text(value)
        for name in names:
            self._texts.pop(name, None)
            self._owners.pop(name, None)
        if isinstance(value, ast.Call):
            self._targets[value] = names
        elif text is not None and isinstance(targets[0], ast.Name):
            self._texts[targets[0].id] = text

    def _call(self, call: ast.Call, nesting: _Nesting) -> None:
        """Read a call that may open, fill or close a figure."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        owner = self._owners.get(_base_name(keywords.get("ax", call.func)))
        if name in CLOSERS:
            self._is_ordered &= not nesting.is_repeated
            self._current = None
            return
        is_express = name in KINDS and _base_name(call.func) == "px"
        if name in OPENERS or name in FIGURE_KINDS or is_express:
            self._is_ordered &= not nesting.is_repeated
            owner = self._open(has_content=name.startswith("subplot") or name not in OPENERS)
        if name in KINDS or name in FIGURE_KINDS:
            owner = owner or self._current or self._open(has_content=True)
            self._draw(owner, name, keywords)
        elif name in TEXT_METHODS:
            arguments = call.args or [value for key in ("label", "t") if (value := keywords.get(key))]
            text = self._text(arguments[0]) if arguments else None
            if text is not None:
                owner = owner or self._current or self._open(has_content=True)
                self._add_text(owner, TEXT_METHODS[name], text)
        elif name in ("set", "update_layout") and (figure := owner or self._current):
            self._add_keywords(figure, keywords)
        for target in self._targets.get(call, ()):
            if owner:
                self._owners[target] = owner

    def _open(self, *, has_content: bool) -> _Figure:
        self._current = _Figure(has_content)
        self._figures.append(self._current)
        return self._current

    def _draw(self, figure: _Figure, name: str, keywords: dict[str, ast.expr]) -> None:
        kind = KINDS.get(name) or FIGURE_KINDS.get(name, "")
        if isinstance(chosen := keywords.get("kind"), ast.Constant) and isinstance(chosen.value, str):
            kind = KINDS.get(chosen.value, kind)
        figure.has_content = True
        figure.kind = figure.kind or kind
        self._add_keywords(figure, keywords)

    def _add_keywords(self, figure: _Figure, keywords: dict[str, ast.expr]) -> None:
        for keyword, name in TEXT_KEYWORDS.items():
            text = self._text(keywords[keyword]) if keyword in keywords else None
            if text is not None:
                self._add_text(figure, name, text)

    def _add_text(self, figure: _Figure, name: str, text: str) -> None:
        figure.has_content = True
        figure.texts.setdefault(name, text)

    def _text(self, node: ast.expr, depth: int = 0) -> str | None:
        """Return the text of an expression; `None` if it is no text, or is known only when the code runs."""
        match node:
            case ast.Constant(value=str(text)):
                return text[: TEXT_LIMIT_CHARS * 2]
            case ast.Name(id=name):
                return self._texts.get(name)
            case ast.JoinedStr(values=values):
                return self._join(values)
            case ast.BinOp(left=left, op=ast.Add(), right=right) if depth < CHAIN_LIMIT:
                first, second = self._text(left, depth + 1), self._text(right, depth + 1)
                return None if first is None or second is None else (first + second)[: TEXT_LIMIT_CHARS * 2]
        return None

    def _join(self, values: list[ast.expr]) -> str | None:
        """Return the text of an f-string; `None` if a piece is not known, because a part of a title would be wrong."""
        text = ""
        for value in values:
            source = value.value if isinstance(value, ast.FormattedValue) else value
            piece = self._text(source) if isinstance(source, ast.Name | ast.Constant) else None
            if piece is None or len(text) > TEXT_LIMIT_CHARS * 2:
                return None
            text += piece
        return text


def with_title(caption: Caption, title: str) -> Caption:
    """Return the caption with the drawn figure's title. If the code has another title, drop its caption."""
    title = clean_text(title)
    return replace(caption, title=title) if caption.title in ("", title) else Caption(title)


def clean_text(text: str) -> str:
    """Return a text as one line without invisible characters and formula signs, cut at `TEXT_LIMIT_CHARS`."""
    if text.count("$") > 1:
        text = re.sub(r"[$\\{}]", "", text)
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if not line.strip("… .,:;=-()"):
        return ""
    return line if len(line) <= TEXT_LIMIT_CHARS else f"{line[: TEXT_LIMIT_CHARS - 1].rstrip()}…"


def _is_new_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _base_name(node: ast.expr) -> str:
    """Return the name at the start of a chain: `axes` of `axes[0].plot`. Empty: the chain starts with no name."""
    for _ in range(CHAIN_LIMIT):
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return ""
    return ""
