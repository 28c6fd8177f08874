"""The product's reader of tables, outside of a kernel."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from subprocess import PIPE
from typing import cast

from attachments.validation import RefusedUpload, inspect_upload
from chat.python.kernels.table_reading import parse_table_reading
from chat.python.table_readings.file_for_kernel import file_for_kernel
from chat.python.table_readings.table_json import table_json
from tests.tables.compare import Reading

ROOT = Path(__file__).parents[2]
READ_FILES = """
import json, os, sys
from chat.python.kernels.in_kernel.tables import main
for line in sys.stdin:
    folder, name = json.loads(line)
    os.chdir(folder)
    try:
        answer = main({}, name, "{}")
    except Exception as error:
        # The client of a real kernel tells the same.
        answer = {"error": "its content is not understood."}
        print(name, repr(error), file=sys.stderr)
    print(json.dumps(answer), flush=True)
"""


def describe_file(path: Path, data: bytes) -> Reading:
    """Return the product's reading of a file, as an upload of its bytes gets it."""
    try:
        upload = inspect_upload(path.name, data)
    except RefusedUpload as error:
        return {"state": "refused", "detail": str(error)}
    file = file_for_kernel(upload.name, upload.mime_type, data, chosen_encoding="")
    if not file.may_be_table:
        return {"state": "refused", "detail": ""}
    target = path.with_name(f"kernel-{file.name}")
    target.write_bytes(file.data)
    answer = _ask(target)
    target.unlink()
    reading = parse_table_reading(answer)
    assert reading.code or not answer.get("code"), f"the code for {path.name} is not believed: {answer['code']}"
    return cast(Reading, table_json(file.with_encoding(reading)))


@cache
def _kernel_process() -> subprocess.Popen[str]:
    """Return a process with the packages of kernels, which reads files as a kernel does, but outside of the sandbox."""
    return subprocess.Popen(
        [ROOT / ".venv-kernel/bin/python", "-c", READ_FILES], cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True
    )


def _ask(path: Path) -> dict[str, object]:
    process = _kernel_process()
    assert process.stdin
    assert process.stdout
    print(json.dumps([str(path.parent), path.name]), file=process.stdin, flush=True)
    answer: dict[str, object] = json.loads(process.stdout.readline())
    return answer
