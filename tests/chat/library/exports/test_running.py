"""Exports of answers that really ran code: the notebook runs again, and the import can be continued."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from asgiref.sync import sync_to_async
from PIL import Image
from pytest_django import Settings

from chat.answering.turns.runner import Runner, start_turn
from chat.library.imports.importer import import_file
from chat.models import Conversation, Turn
from chat.python.kernels.interpreter import find_interpreter
from tests.chat.library.exports.samples import exported_bytes, exported_json
from tests.chat.library.imports.comparison import comparable
from tests.chat.turn_driver import make_question
from tests.factories import make_attachment, make_conversation, make_user

CSV = "month,sales\nJan,3\nFeb,5\nMär,4\n".encode("cp1252")
BARS = """```python
import pandas as pd
import matplotlib.pyplot as plt
data = pd.read_csv('sales.csv')
print(data.sales.sum())
data.plot.bar(x='month', y='sales')
plt.show()
```"""
PROMPTS = ("Plot a sine wave", BARS, "```python\n1 / 0\n```")
NBCONVERT = ["-W", "ignore", "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "ran.ipynb"]
HASH_DISTANCE = 10
"""Maximum number of 256 bits that differ. The kernel may draw at another size than the recorded one."""


async def ask_and_wait(conversation: Conversation, text: str, attachment_ids: Sequence[uuid.UUID] = ()) -> Turn:
    """Ask, wait until the answer has ended, and return its turn."""
    started = await start_turn(make_question(conversation, text, code_mode="on", attachment_ids=attachment_ids))
    await Runner.current().drain()
    return await Turn.objects.aget(pk=started.turn.pk)


def average_hash(data: bytes) -> int:
    """Return 256 bits: for each square of the image, whether it is lighter than the average of the image."""
    with Image.open(io.BytesIO(data)) as image:
        pixels = list(image.convert("RGB").convert("L").resize((16, 16)).tobytes())
    mean = sum(pixels) / len(pixels)
    return sum((pixel > mean) << place for place, pixel in enumerate(pixels))


def graphs_of(notebook: Any) -> list[bytes]:  # noqa: ANN401 - nbformat has no types
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [base64.b64decode(output.data["image/png"]) for output in outputs if "image/png" in output.get("data", {})]


def write_kernel_spec(folder: Path) -> Path:
    """Write a Jupyter data folder in which the kernel `python3` is the interpreter of kernels, and return it."""
    argv = [find_interpreter().executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = folder / "kernels/python3/kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    return folder


def run_notebook(folder: Path) -> Any:  # noqa: ANN401 - nbformat has no types
    """Execute the only notebook of a folder with Jupyter's command, in the Python environment of kernels."""
    (path,) = folder.glob("*.ipynb")
    command = [sys.executable, *NBCONVERT, str(path)]
    environment = {
        **os.environ,
        "JUPYTER_PLATFORM_DIRS": "1",
        "JUPYTER_PATH": str(write_kernel_spec(folder / ".jupyter")),
        "IPYTHONDIR": str(folder / ".ipython"),
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return nbformat.read(folder / "ran.ipynb", as_version=4)


@pytest.mark.drill
@pytest.mark.django_db(transaction=True)
async def test_exported_notebook_can_run_again_and_the_imported_conversation_can_be_continued(
    emulated: Settings, tmp_path: Path
) -> None:
    conversation = await sync_to_async(make_conversation)(title="Run me")
    file = await sync_to_async(lambda: make_attachment(conversation.owner, data=CSV, name="sales.csv"))()
    for number, prompt in enumerate(PROMPTS):
        turn = await ask_and_wait(conversation, prompt, attachment_ids=[file.pk] if number == 1 else [])
        assert turn.status == Turn.Status.DONE
    await sync_to_async(check_notebook)(conversation, tmp_path)
    copy = await sync_to_async(check_import)(conversation)
    # The emulator refuses signatures that it has not made, and calls without results.
    turn = await ask_and_wait(copy, "Plot a sine wave")
    assert (turn.status, turn.error_code) == (Turn.Status.DONE, "")


def check_notebook(conversation: Conversation, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(exported_bytes(conversation, "ipynb"))) as archive:
        archive.extractall(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["Run-me.ipynb", "sales.csv"]
    recorded = nbformat.read(folder / "Run-me.ipynb", as_version=4)
    nbformat.validate(recorded)
    ran = run_notebook(folder)
    before, after = graphs_of(recorded), graphs_of(ran)
    assert len(before) == len(after) == 2
    for old, new in zip(before, after, strict=True):
        assert (average_hash(old) ^ average_hash(new)).bit_count() <= HASH_DISTANCE
    printed = ["".join(o.get("text", "") for o in cell.outputs) for cell in ran.cells if cell.cell_type == "code"]
    assert printed[1] == "12\n"
    failed = ran.cells[-2] if ran.cells[-1].cell_type != "code" else ran.cells[-1]
    assert failed.outputs[0].ename == "ZeroDivisionError"


def check_import(conversation: Conversation) -> Conversation:
    owner = make_user()
    imported = import_file(exported_bytes(conversation, "zip"), owner_id=owner.pk)
    copy = Conversation.objects.select_related("owner").get(pk=imported.created[0])
    assert comparable(exported_json(copy)) == comparable(exported_json(conversation))
    return copy
