"""Declares the functions for models. Their names and parameters must not change: stored conversations hold calls."""

from __future__ import annotations

from chat.providers.requests import FunctionTool
from chat.vocabulary.parts import JSONObject

RUN_PYTHON = "run_python"
LIST_VARIABLES = "list_variables"
INSPECT_VARIABLE = "inspect_variable"
LIST_FILES = "list_files"
RESET_SESSION = "reset_session"

CODE_LIMIT_CHARS = 200_000


def declarations(limit_s: float) -> list[FunctionTool]:
    """Return the functions. `limit_s`: the maximum number of seconds that one call may run."""
    return [
        _run_python(limit_s),
        FunctionTool(
            LIST_VARIABLES,
            "List the variables of the Python session: name, type, shape, size in bytes and a short preview.",
        ),
        FunctionTool(
            INSPECT_VARIABLE,
            "Describe one variable of the Python session at more length than list_variables does, such as the columns"
            " and first rows of a table.",
            _object({"name": _string("The name of the variable.")}, required=["name"]),
        ),
        FunctionTool(
            LIST_FILES, "List the files in the working directory of the Python session, with their sizes in bytes."
        ),
        FunctionTool(
            RESET_SESSION,
            "End the Python session. All its variables and all files that code has written are lost. The next call of"
            " run_python starts a new one, in which the attached files are again.",
        ),
    ]


def run_python_beside_native(limit_s: float) -> FunctionTool:
    """Return the only function that is declared if the model also runs code at its own service.

    It can do what the service cannot: run for longer, use further packages, keep variables for later answers, and write
    files for the user. The others describe or end a running session, and a turn begins at the service only if none is
    running. The state of the session after a call is at the end of the next request.
    """
    return _run_python(limit_s, ", with which the sandbox of your own code execution shares nothing,")


def _run_python(limit_s: float, addition: str = "") -> FunctionTool:
    return FunctionTool(
        RUN_PYTHON,
        f"Run Python code in the Python session of this conversation{addition} and return what it prints. Variables,"
        " imports and files stay for later calls and later answers. The value of the last expression is printed."
        " Figures of matplotlib are shown to the user when plt.show() is called. Attached files are in the working"
        " directory.",
        _object({"code": _string("Python code, as in one cell of a notebook."), "timeout_s": _timeout(limit_s)}),
    )


def _object(properties: dict[str, JSONObject], required: list[str] | None = None) -> JSONObject:
    return {
        "type": "object",
        "properties": {**properties},
        "required": [*(required or ["code"])],
        "additionalProperties": False,
    }


def _string(description: str) -> JSONObject:
    return {"type": "string", "description": description}


def _timeout(limit_s: float) -> JSONObject:
    return {
        "type": "number",
        "minimum": 1,
        "maximum": limit_s,
        "description": f"Seconds after which the code is interrupted, at most {limit_s:g}. May be left out.",
    }
