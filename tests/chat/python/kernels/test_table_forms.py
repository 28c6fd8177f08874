"""JSON and binary tables in the forms that people have: what is read in a kernel, and the code that reads the same."""

from __future__ import annotations

import json

import pytest

from chat.python.kernels.client import KernelClient
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import TableReading
from tests.chat.python.kernels.cells import LONG_S
from tests.chat.python.kernels.conftest import read_table

pytestmark = pytest.mark.asyncio(loop_scope="module")

RUN = "import json, pandas as pd; _t = {code}; print(json.dumps([len(_t), list(map(str, _t.columns))]))"


async def read(kernel: KernelClient, name: str, text: str, choices: Choices | None = None) -> TableReading:
    """Read a file in the kernel. Its code must give the same rows and names."""
    reading = await read_table(kernel, name, text.encode(), choices)
    await check_code(kernel, reading)
    return reading


async def check_code(kernel: KernelClient, reading: TableReading) -> None:
    if reading.code:
        execution = await kernel.execute(RUN.format(code=reading.code))
        assert json.loads(execution.text) == [reading.row_count, names_of(reading)]


def names_of(reading: TableReading) -> list[str]:
    return [column.name for column in reading.columns]


POINT = {"type": "Point", "coordinates": [8.5, 47.25]}
FEATURES = [
    {"type": "Feature", "properties": {"name": "Zürich"}, "geometry": POINT},
    {"type": "Feature", "properties": None, "geometry": None},
]
CELLS = {"city": {"0": "Ulm", "1": "Bonn"}, "lake": {"0": False, "1": None}}
FORMS = {
    "pandas by columns": (json.dumps(CELLS), 2, ["city", "lake"]),
    "by columns, with labels": (
        '{"pop": {"2020": 1, "2021": 2}, "area": {"2020": 3, "2021": 4}}',
        2,
        ["index", "pop", "area"],
    ),
    "one row for each key": (
        '{"Ulm": {"pop": 1, "river": "x"}, "Bonn": {"pop": 2, "river": "y"}}',
        2,
        ["key", "pop", "river"],
    ),
    "index": ('{"0": {"a": 1, "b": "x"}, "1": {"a": 2, "b": "y"}}', 2, ["a", "b"]),
    "split": ('{"columns": ["a", "b"], "index": [0, 1], "data": [[1, 2], [3, 4]]}', 2, ["a", "b"]),
    "split, with labels": ('{"columns": ["a"], "index": ["x", "y"], "data": [[1], [3]]}', 2, ["index", "a"]),
    "split, with levels": ('{"columns": [["a", "x"], ["a", "y"]], "data": [[1, 2], [3, 4]]}', 2, ["a / x", "a / y"]),
    "table": ('{"schema": {"fields": []}, "data": [{"index": 0, "a": 1}, {"index": 1, "a": 2}]}', 2, ["a"]),
    "fields and rows": ('{"fields": [{"name": "a"}], "rows": [[1], [2]]}', 2, ["a"]),
    "lists without names": ("[[1, 2], [3, 4, 5]]", 2, ["column 1", "column 2", "column 3"]),
    "texts without names": ('[["Ann", "Ulm"], ["Bob", "Bonn"]]', 2, ["column 1", "column 2"]),
    "lists with names": ('[["who", "n"], ["Ann", 1], ["Bob", 2]]', 2, ["who", "n"]),
    "lists of texts with names": ('[["who", "n"], ["Ann", "1"], ["Bob"]]', 2, ["who", "n"]),
    "lists as columns": ('{"a": [1, 2], "b": ["x", null]}', 2, ["a", "b"]),
    "below a key": ('{"ok": true, "data": {"total": 2, "items": [{"a": 1}, {"a": 2}]}}', 2, ["a"]),
    "below keys like words of the code": ('{"NAME": {"MORE.x": [{"a": 1}]}}', 1, ["a"]),
    "below data about it": ('[{"page": 1}, [{"a": 1, "b": {"id": 2}}, {"a": 2, "b": {"id": 3}}]]', 2, ["a", "b.id"]),
    "null among rows": ('[{"a": 1}, null, {"a": 2}]', 2, ["a"]),
    "single values": ("[1, 2, 3]", 3, ["value"]),
    "one record": ('{"a": 1, "tags": ["x"]}', 1, ["a", "tags"]),
    "keys that are dates": ('{"2024-01-01": 3, "2024-01-02": 4}', 2, ["key", "value"]),
    "GeoJSON": (
        json.dumps({"type": "FeatureCollection", "features": FEATURES}),
        2,
        ["geometry", "longitude", "latitude", "name"],
    ),
    "small objects": (
        '[{"id": 1, "at": {"city": "Ulm", "zip": "1"}}, {"id": 2, "at": null}, {"id": 3, "at": {"city": "Bonn"}}]',
        3,
        ["id", "at.city", "at.zip"],
    ),
    "small objects in another order": (
        '[{"a": {"x": 1}, "b": {"y": 1}}, {"b": {"y": 2, "z": 3}, "a": {"x": 2, "w": 4}}]',
        2,
        ["a.x", "b.y", "b.z", "a.w"],
    ),
    "objects that follow each other": ('{\n  "a": 1\n}\n{\n  "a": 2\n}\n', 2, ["a"]),
    "commas before brackets": ('[{"a": 1,}, {"a": ",]"},] // end', 2, ["a"]),
    "line breaks in texts": ('[{"a": "x\ny"}]', 1, ["a"]),
    "a list that is cut": ('[{"a": 1}, {"a": 2}, {"a"', 2, ["a"]),
    "numbers as Python writes them": ('[{"a": NaN}, {"a": -Infinity}]', 2, ["a"]),
    "a number with too many digits": ('[{"a": ' + "9" * 10_000 + "}]", 1, ["a"]),
}


@pytest.mark.parametrize("form", FORMS)
async def test_rows_and_column_names_are_read_from_each_form_of_json(kernel: KernelClient, form: str) -> None:
    text, row_count, names = FORMS[form]
    reading = await read(kernel, "form.json", text)
    assert (reading.error, reading.row_count, names_of(reading)) == ("", row_count, names)


LINES = {
    "one line": ('{"a": 1, "b": [{"c": 1}, {"c": 2}]}', 1, ["a", "b"]),
    "line ends of Unicode in texts": ('{"a": "x\u2028y"}\n{"a": "\u2029\x85"}\r\n', 2, ["a"]),
    "lists": ('["id", "n"]\n[1, 2]\n[3, 4]\n', 2, ["id", "n"]),
    "blank lines and commas": ('{"1": 1},\n\n{"1": 2},\n', 2, ["1"]),
    "dates and long numbers": ('{"date": "2024-01-01", "id": 12345678901234567890123}\n{"id": 1}\n', 2, ["date", "id"]),
    "a line that is nested too deeply": ('{"a": 1}\n{"a": ' + "[" * 5000 + "]" * 5000 + "}\n", 1, ["a"]),
    "a last line that is cut": ('{"a": 1}\n{"a": 2}\n{"a": ', 2, ["a"]),
}


@pytest.mark.parametrize("form", LINES)
async def test_rows_and_column_names_are_read_from_each_form_of_json_lines(kernel: KernelClient, form: str) -> None:
    text, row_count, names = LINES[form]
    reading = await read(kernel, "form.jsonl", text)
    assert (reading.error, reading.row_count, names_of(reading)) == ("", row_count, names)
    assert reading.format == "JSON lines"


async def test_invalid_line_of_json_lines_is_reported_and_the_others_are_read(kernel: KernelClient) -> None:
    lines = [json.dumps({"n": n, "w": f"w{n}"}) for n in range(12)]
    lines[6] = lines[6][:-3]
    reading = await read(kernel, "posts.jsonl", "\n".join(lines))
    assert reading.row_count == 11
    assert list(reading.notes) == [
        "Line 7 is not valid JSON and is left out (column 15: the text that begins there has no closing quote)."
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"data": [\n {"a": 1},\n {"a": 2 "b": 3}\n]}', "line 3, column 10: a comma or a closing bracket is missing."),
        ("[{'a': 1}]", "line 1, column 3: names and texts must be in double quotes."),
        ('{"data": [{"a": 1}', "line 1, column 19: the file ends there in the middle of a value."),
    ],
)
async def test_error_about_invalid_json_contains_the_position_of_the_fault(
    kernel: KernelClient, text: str, error: str
) -> None:
    reading = await read(kernel, "broken.json", text)
    assert reading.error == f"it is not valid JSON: {error} Correct it there, and attach the file again."


async def test_larger_of_two_json_lists_is_read_and_the_other_can_be_chosen(kernel: KernelClient) -> None:
    text = json.dumps({"users": [{"a": 1}], "shop": {"orders": [{"b": 1}, {"b": 2}]}})
    reading = await read(kernel, "two.json", text)
    assert (reading.reading, reading.candidates) == ({"path": "shop.orders"}, {"path": ["shop.orders", "users"]})
    assert "The JSON holds 1 more table: “users” (1 row)." in reading.notes
    chosen = await read(kernel, "two.json", text, {"path": "users"})
    assert (names_of(chosen), chosen.row_count, chosen.reading) == (["a"], 1, {"path": "users"})
    wrong = await read(kernel, "two.json", text, {"path": "shop.x"})
    assert wrong.error == "its JSON has no “shop.x”. Choose another path."


async def test_first_list_of_json_lists_is_the_header_if_a_person_chooses_this(kernel: KernelClient) -> None:
    text = '[["who", "where"], ["Ann", "Ulm"]]'
    reading = await read(kernel, "lists.json", text)
    assert (reading.row_count, reading.candidates) == (2, {"header_rows": [0, 1]})
    chosen = await read(kernel, "lists.json", text, {"header_rows": 1})
    assert (chosen.row_count, names_of(chosen)) == (1, ["who", "where"])


async def test_note_reports_that_a_json_object_repeats_a_key(kernel: KernelClient) -> None:
    reading = await read(kernel, "twice.json", '[{"b": 0, "a": 1, "a": 2}]')
    assert list(reading.notes) == ["An object has the name “a” more than once: the last value counts."]


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        ("a.json", "id,name\n1,x\n", "The name of the file ends in .json, but its content is CSV."),
        ("a.txt", '[{"a": 1}]', "The name of the file ends in .txt, but its content is JSON."),
    ],
)
async def test_content_and_not_the_file_name_decides_whether_a_file_is_json(
    kernel: KernelClient, name: str, text: str, note: str
) -> None:
    reading = await read(kernel, name, text)
    assert (reading.row_count, reading.notes[0]) == (1, note)


WRITE = """
import datetime, decimal, pandas, pyarrow, pyarrow.feather, pyarrow.parquet
def numbers(values, kind): return pyarrow.array(values, pyarrow.int64()).view(kind)
table = pyarrow.table({
    "day": pyarrow.array([19723, 4_000_000, -1_000_000], pyarrow.int32()).view(pyarrow.date32()),
    "moment": numbers([253_402_300_799_999_999, 2**62, None], pyarrow.timestamp("us")),
    "length": numbers([60, 2**62, None], pyarrow.duration("s")),
    "big": pyarrow.array([2**64 - 1, 1, None], pyarrow.uint64()),
    "exact": pyarrow.array([decimal.Decimal("1.10"), None, None], pyarrow.decimal128(38, 2)),
    "short": pyarrow.array([0.1, None, 2], pyarrow.float32()),
    "word": pyarrow.array(["a", None, "a"]).dictionary_encode(),
    "map": pyarrow.array([[("k", 1)], None, []], pyarrow.map_(pyarrow.string(), pyarrow.int32())),
    "zone": pyarrow.array([1, 2, None], pyarrow.timestamp("s", "America/Nowhere")),
})
pyarrow.feather.write_feather(table, "odd.feather")
pyarrow.parquet.write_table(table.drop_columns(["length"]), "odd.parquet")
levels, days = pandas.Categorical(["low", "high"]), [datetime.datetime(1960, 5, 5)] * 2
frame = pandas.DataFrame({"n": [1.5, None], "level": levels, "day": days})
frame.to_stata("old.dta", write_index=False, convert_dates={"day": "td"})
pandas.DataFrame({"n": [1, 2]}, index=["x", "y"]).to_parquet("labels.parquet")
pyarrow.parquet.write_table(pyarrow.table({"n": pyarrow.array([], pyarrow.int64())}), "none.parquet")
last = pyarrow.table({"until": [datetime.datetime(2024, 1, 1), datetime.datetime(9999, 12, 31)]})
pyarrow.parquet.write_table(last, "spark.parquet", use_deprecated_int96_timestamps=True)
pyarrow.parquet.write_table(pyarrow.table({"n": range(1000), "w": ["x"] * 1000}), "damaged.parquet")
with open("damaged.parquet", "r+b") as file:
    file.seek(30)
    file.write(bytes(30))
"""


async def test_binary_table_with_values_that_python_cannot_hold_is_read(kernel: KernelClient) -> None:
    assert (await kernel.execute(WRITE)).text == ""
    for name, width in (("odd.feather", 9), ("odd.parquet", 8)):
        reading = await kernel.read_table(name, {}, limit_s=LONG_S)
        assert (reading.error, reading.row_count, reading.column_count) == ("", 3, width)
        columns = {column.name: column for column in reading.columns}
        assert (columns["day"].minimum, columns["day"].maximum, columns["day"].missing) == (
            "2024-01-01",
            "2024-01-01",
            2,
        )
        assert (columns["moment"].maximum, columns["moment"].missing) == ("9999-12-31 23:59:59", 2)
        assert {column.type for column in reading.columns if column.name in ("big", "exact", "short")} <= {
            "whole number",
            "number",
        }
        assert (columns["exact"].maximum, columns["short"].minimum, columns["map"].type) == ("1.1", "0.1", "nested")
        assert reading.notes[0] == (
            "“day” has 2 values outside the years 1 to 9999 or the range of times, such as “12921-08-18”: "
            "counted as missing here."
        )
        assert any("time zone of “zone” is not known" in note for note in reading.notes)
        await check_code(kernel, reading)


async def test_year_9999_in_a_96_bit_timestamp_of_parquet_is_read(kernel: KernelClient) -> None:
    await kernel.execute(WRITE)
    reading = await kernel.read_table("spark.parquet", {}, limit_s=LONG_S)
    assert (reading.columns[0].minimum, reading.columns[0].maximum) == ("2024-01-01", "9999-12-31")
    assert (await kernel.execute(f"import pandas as pd; print({reading.code}.until.max().year)")).text == "9999\n"


@pytest.mark.parametrize(
    ("name", "row_count", "names"),
    [
        ("old.dta", 2, ["n", "level", "day"]),
        ("labels.parquet", 2, ["index", "n"]),
        ("none.parquet", 0, ["n"]),
        ("damaged.parquet", 1000, ["n", "w"]),
    ],
)
async def test_rows_and_column_names_are_read_from_stata_and_parquet_files(
    kernel: KernelClient, name: str, row_count: int, names: list[str]
) -> None:
    await kernel.execute(WRITE)
    reading = await kernel.read_table(name, {}, limit_s=LONG_S)
    assert (reading.error, reading.row_count, names_of(reading)) == ("", row_count, names)
    await check_code(kernel, reading)
