"""A kernel lists its variables and files, whatever the code of their classes does, and leaves no traces."""

from __future__ import annotations

import asyncio

import pytest

from chat.python.kernels import kernel_client
from chat.python.kernels.client import JupyterClient, KernelClient
from chat.python.kernels.errors import KernelsUnavailable
from chat.python.kernels.kernel_contents import Variable
from chat.python.kernels.outputs import ExecutionStatus
from tests.chat.python.kernels.cells import LONG_S, begin_cell, cancel_cell, chunks
from tests.chat.python.kernels.conformance.places import MAIN_PLACES

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLACES = MAIN_PLACES


async def variables(kernel: KernelClient) -> dict[str, Variable]:
    """Return the variables of a kernel by their names."""
    contents = await kernel.contents()
    assert contents.error == ""
    return {variable.name: variable for variable in contents.variables}


async def test_new_kernel_has_no_variables(own_kernel: KernelClient) -> None:
    contents = await own_kernel.contents()
    assert (contents.variables, contents.files, contents.execution_count) == ((), (), 0)
    assert not contents.is_truncated


async def test_contents_list_variables_with_type_shape_size_and_a_short_preview(own_kernel: KernelClient) -> None:
    code = """
import math, numpy as np, pandas as pd
from math import sin
from datetime import date
number, text, nothing = 42, "a" * 500, None
items = [1, "two", (3.5,), {"four": {5}}]
huge = 1 << 100_000
matrix = np.arange(6.0).reshape(2, 3)
table = pd.DataFrame({"city": ["Oslo", "Rome"], "people": [1, 2]})
column = table.people
day = date(2026, 1, 2)
def add(first, second=1): return first + second
class Shape: pass
shape = Shape()
_hidden = 1
"""
    await own_kernel.execute(code, limit_s=LONG_S)
    found = await variables(own_kernel)
    expected = [
        "number",
        "text",
        "nothing",
        "items",
        "huge",
        "matrix",
        "table",
        "column",
        "day",
        "add",
        "Shape",
        "shape",
    ]
    assert list(found) == expected
    assert found["number"].type == "int"
    assert found["number"].preview == "42"
    assert found["text"].shape == (500,)
    assert len(found["text"].preview) <= 200
    assert found["items"].preview == "[1, 'two', (3.5,), {'four': {5}}]"
    assert found["huge"].preview == "an integer of 100,001 bits"
    assert (found["matrix"].shape, found["matrix"].size_bytes) == ((2, 3), 48)
    assert found["matrix"].preview == "float64 [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]"
    assert (found["table"].type, found["table"].shape) == ("DataFrame", (2, 2))
    assert "'city', 'people'" in found["table"].preview
    assert found["column"].preview == "int64 [1, 2]"
    assert found["day"].preview == "2026-01-02"
    assert found["add"].preview == "add(first, second)"
    assert found["Shape"].preview == "class Shape"
    assert found["shape"].preview == "<Shape object>"
    assert (await own_kernel.contents()).execution_count == 1


async def test_reading_the_contents_does_not_call_methods_of_users_classes(own_kernel: KernelClient) -> None:
    code = """
class Meta(type):
    def __getattribute__(cls, name): raise SystemExit
class Evil(metaclass=Meta):
    def __repr__(self):
        while True: pass
    __str__ = __len__ = __getattribute__ = __hash__ = __sizeof__ = __eq__ = __iter__ = __repr__
    shape = property(__repr__)
class EvilList(list):
    __repr__ = __len__ = __iter__ = Evil.__dict__["__repr__"] if False else lambda self: exec("while True: pass")
evil, evils, evil_list = Evil(), [Evil(), {1: Evil()}], EvilList()
"""
    assert (await own_kernel.execute(code)).status is ExecutionStatus.OK
    async with asyncio.timeout(60):
        found = await variables(own_kernel)
    assert found["evil"].preview == "<Evil object>"
    assert found["evils"].preview == "[<Evil object>, {1: <Evil object>}]"
    assert found["evil_list"].preview == "<EvilList object>"


async def test_contents_and_files_are_read_even_if_code_redefines_builtins(own_kernel: KernelClient) -> None:
    names = "list = dict = str = len = repr = type = open = exec = eval = sorted = json = os = sys = main = contents"
    assert (await own_kernel.execute(f"{names} = 5\nvalue = 7")).status is ExecutionStatus.OK
    found = await variables(own_kernel)
    assert found["value"].preview == "7"
    assert found["list"].preview == "5"
    label = await own_kernel.write_file("a.txt", chunks(b"content"))
    assert [piece async for piece in own_kernel.read_file(label)] == [b"content"]


async def test_reading_the_contents_adds_no_variables_to_the_kernel(own_kernel: KernelClient) -> None:
    await own_kernel.execute("before = set(globals())")
    await own_kernel.contents()
    await own_kernel.variable("before")
    await own_kernel.write_file("a.txt", chunks(b"content"))
    execution = await own_kernel.execute("set(globals()) - before - {'before'}")
    # IPython itself adds the names of the input's history.
    assert {name for name in eval(execution.text) if not name.startswith("_i")} == set()


async def test_contents_list_at_most_100_variables_and_200_files(own_kernel: KernelClient) -> None:
    code = (
        "for number in range(300): globals()[f'name_{number:03}'] = '€' * 1000\n"
        "for number in range(250): open(f'file_{number:03}', 'w').close()"
    )
    await own_kernel.execute(code, limit_s=LONG_S)
    contents = await own_kernel.contents()
    assert contents.is_truncated
    assert len(contents.variables) <= 100
    assert contents.variables[-1].name == "name_299"
    assert 100 < len(contents.files) <= 200


async def test_description_of_a_variable_contains_columns_of_a_table_or_attributes_of_an_object(
    own_kernel: KernelClient,
) -> None:
    code = """
import pandas as pd
table = pd.DataFrame({"number": range(1000)})
class Point:
    def __init__(self): self.x = 1
    def __repr__(self): return "a point"
point = Point()
long = list(range(10**6))
"""
    await own_kernel.execute(code, limit_s=LONG_S)
    table = await own_kernel.variable("table")
    assert table.startswith("table: DataFrame, shape (1000, 1)")
    assert "number int64" in table
    point = await own_kernel.variable("point")
    assert "a point" in point
    assert ".x = 1" in point
    assert len(await own_kernel.variable("long")) < 10_000
    assert await own_kernel.variable("other") == "There is no variable other in the Python session."


async def test_description_is_interrupted_if_the_repr_of_a_variable_never_returns(
    own_kernel: KernelClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_client, "PROGRAM_LIMIT_S", 2.0)
    await own_kernel.execute("class Slow:\n    def __repr__(self):\n        while True: pass\nslow, kept = Slow(), 1")
    assert await own_kernel.variable("slow") == "The value of slow cannot be described."
    assert (await own_kernel.execute("print(kept)")).text == "1\n"


async def test_reading_the_contents_of_a_kernel_that_another_connection_keeps_busy_is_refused(
    client: JupyterClient, own_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_client, "PROGRAM_LIMIT_S", 0.3)
    async with await client.connect(own_id) as first, await client.connect(own_id) as second:
        cell = await begin_cell(first, "print('begun', flush=True)\nimport time; time.sleep(60)")
        with pytest.raises(KernelsUnavailable, match="busy"):
            await second.contents()
        await cancel_cell(cell)
