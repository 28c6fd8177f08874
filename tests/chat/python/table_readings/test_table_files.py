"""A text file is a table if its lines are divided alike; prose is no table."""

from __future__ import annotations

import pytest

from chat.python.table_readings.table_files import has_table_lines


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\n1\t2\n",
        "a\tb\n1\t2\t3\n",
        "Umsatz 2024\n\nOrt;Preis\nUlm;1,5\nBonn;2\nKiel;3\n",
        " id | name\n----+------\n  1 | bolt\n  2 | nut\n  3 | pin\n(3 rows)\n",
        "host        jobs   load\nnode001        12   0.50\nnode002         7   1.25\n",
        "id    name    n\n----- ------- ---\n1     bolt    5\n2     nut     6\n\n(2 rows affected)\n",
        "# x y\n1 1\n2 4\n\n\n# x y\n1 1\n2 8\n",
        "# run 1\n# x y\n1 2\n2 3\n3 4\n4 5\n",
        "a,b\n1,2\n3,4\n",
        "+----+------+\n| id | name |\n+----+------+\n|  1 | Anna |\n|  2 |      |\n+----+------+\n2 rows in set\n",
        "Year Jan Feb\n1990 0.1 -0.2\n1991 *** 1.2e-3\n1992 .5 NaN\n",
        "Wert\n1,5\n-2,25\n1.250,00\n",
        "answer\n" + "late; but friendly\nok\nx, y, z\n" * 4,
    ],
)
def test_text_whose_lines_have_the_same_separators_is_a_table(text: str) -> None:
    assert has_table_lines(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one line; two parts",
        "Dear Anna,\nwe are well, and the weather is fine.\nYours,\nEmil\n",
        "Dear Anna,\nwe are well,\nbye,\n",
        "First sentence.  Second one.\nThird.\nFourth.  Fifth.  Sixth.\n",
        "int a;\nint b;\nreturn a + b;\n",
        "\tindented\n\tlines\n",
        "Shopping\nmilk\nbread and butter\nask Peter\n\ncall mum\n",
        "".join(f"package{n}\n" for n in range(20)),
    ],
)
def test_prose_is_not_recognized_as_a_table(text: str) -> None:
    assert not has_table_lines(text.encode())
