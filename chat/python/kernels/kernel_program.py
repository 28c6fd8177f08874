"""Builds the request that runs a module of `in_kernel` inside a kernel, and parses the kernel's answer.

A program is an expression in the field `user_expressions` of an execute request without code. Jupyter's documentation
gives it this purpose: the kernel evaluates the expression, counts no cell, and puts the value into its reply. Replies
are not dropped when a kernel floods its output, and other clients of the kernel do not see them. Source:
https://jupyter-client.readthedocs.io/en/stable/messaging.html#execute
"""

from __future__ import annotations

import ast
import asyncio
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from chat.python.kernels.outputs import clean_text

_MIME_TYPE = "application/vnd.plotline.answer"
_KEY = "answer"
_MODULES = Path(__file__).with_name("in_kernel")
_PACKAGE = "chat.python.kernels.in_kernel."
# This finds built-in functions by an attribute of a lambda, because users may have variables with their names.
_EXPRESSION = (
    "(lambda f, b: (lambda ns: (b['exec']({source}, ns), ns['Answer'](ns, f.__globals__, {arguments}))[1])"
    "({{'__builtins__': b, '__name__': 'plotline'}}))(*((lambda f: (f, f.__builtins__))(lambda: 0)))"
)
_ANSWER_CLASS = f"""
class Answer:
    def __init__(self, functions, namespace, arguments):
        import json
        self.text = json.dumps(functions["main"](namespace, *arguments))
    def _repr_mimebundle_(self, **options):
        return {{"{_MIME_TYPE}": self.text}}
"""


_loaded: set[str] = set()


class ProgramFailed(Exception):
    """The kernel gave no valid answer. The message is its error."""


async def load_program(module: str) -> None:
    """Read a module in a thread before its first `program_content`: the largest ones take 0.4 s of processor time."""
    if module not in _loaded:
        await asyncio.to_thread(_source, module)
        _loaded.add(module)


def program_content(module: str, *arguments: object) -> dict[str, object]:
    """Return the content of an execute request that runs `main` of a module with these strings and numbers."""
    expression = _EXPRESSION.format(source=_source(module), arguments=ascii(arguments))
    return {
        "code": "",
        "silent": True,
        "store_history": False,
        "user_expressions": {_KEY: expression},
        "allow_stdin": False,
        "stop_on_error": False,
    }


def parse_answer(reply: Mapping[str, object], limit_chars: int) -> Mapping[str, object]:
    """Return the object that `main` returned, from the content of the reply. Raises ProgramFailed if there is none."""
    expressions = reply.get("user_expressions")
    result = expressions.get(_KEY) if isinstance(expressions, dict) else None
    if not isinstance(result, dict):
        raise ProgramFailed("no answer")
    data = result.get("data")
    text = data.get(_MIME_TYPE) if isinstance(data, dict) else None
    if not isinstance(text, str) or len(text) > limit_chars:
        # Clean and shorten the message: it may be stored, and code in the kernel can write any error.
        raise ProgramFailed(clean_text(f"{result.get('ename', 'an invalid answer')}: {result.get('evalue', '')}"[:300]))
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise ProgramFailed("an answer that is not JSON") from None
    if not isinstance(answer, dict):
        raise ProgramFailed("an answer that is not an object")
    return answer


def natural_number(value: object, limit: int) -> int | None:
    """Return the value if it is a whole number from 0 to below the limit, else `None`."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < limit else None


@cache
def _source(module: str) -> str:
    """Return the module's text as a Python literal, without its docstrings: the kernel compiles it on every call."""
    tree = ast.Module(_statements(module, set()), [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ascii(ast.unparse(tree) + _ANSWER_CLASS)


def _statements(module: str, included: set[str]) -> list[ast.stmt]:
    """Return the statements of a module, with its imports of other `in_kernel` modules replaced by their statements.

    `included`: the modules that the program already contains. Imports from `__future__` must come first in it.
    """
    is_first = not included
    included.add(module)
    statements: list[ast.stmt] = []
    for node in ast.parse((_MODULES / f"{module}.py").read_text()).body:
        imported = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if imported.startswith(_PACKAGE):
            other = imported.removeprefix(_PACKAGE)
            statements += [] if other in included else _statements(other, included)
        elif imported != "__future__" or is_first:
            statements.append(node)
    return statements
