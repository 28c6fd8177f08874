"""Questions fit the columns of a table, and the demo model can answer each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.conf import settings
from django.utils import translation

from chat.emulator.attached_files import AttachedFile
from chat.emulator.demo.plan import plan_answer
from chat.python.kernels.in_kernel.table_text import read_text_file
from chat.python.kernels.in_kernel.tables import describe
from chat.python.kernels.table_reading import TableReading, parse_table_reading
from chat.python.table_readings.suggestions import suggest_questions
from chat.vocabulary.sentences import translate_sentence

TABLES = {
    b"date,city,price,count\n2024-01-01,Oslo,3.5,1\n2024-01-02,Rome,4.5,5\n2024-01-03,Oslo,5.5,3\n": [
        'Plot "price" over "date"',
        'Compare "price" by "city"',
        'Plot "count" against "price"',
        'Show the distribution of "price"',
    ],
    "tag;umsatz;stadt\n31.12.2023;1.234,50;Köln\n01.01.2024;12,00;Bonn\n03.01.2024;15,00;Köln\n".encode(): [
        'Plot "umsatz" over "tag"',
        'Compare "umsatz" by "stadt"',
        'Show the distribution of "umsatz"',
        "Describe this table",
    ],
    b"id,name,km\n1,Rhine,1230\n2,Elbe,1094\n3,Oder,866\n": [
        'Compare "km" by "name"',
        'Show the distribution of "km"',
        "Describe this table",
    ],
    b"city,colour\nOslo,red\nRome,blue\nOslo,red\n": ['Count the rows by "city"', "Describe this table"],
    b"a,a\n1,2\n3,5\n": ["Describe this table"],
}


def preview_of(data: bytes) -> TableReading:
    return parse_table_reading(describe(read_text_file(data, "table.csv", {}), "table.csv", {}))


@pytest.mark.parametrize("data", TABLES)
def test_suggested_questions_fit_the_columns_and_the_demo_model_can_answer_them(data: bytes) -> None:
    questions = suggest_questions(preview_of(data))
    assert questions == TABLES[data]
    file = AttachedFile("table.csv", "text/csv", data, is_new=True)
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            shown = [translate_sentence(question) for question in questions]
        for question in shown:
            plan = plan_answer([question], [], [file])
            assert not isinstance(plan, str), question


def test_table_without_code_that_reads_it_has_no_suggested_question() -> None:
    assert suggest_questions(replace(preview_of(b"a,b\n1,2\n3,5\n"), code="")) == []


def test_table_without_rows_has_no_question_and_quotes_in_column_names_are_replaced() -> None:
    assert suggest_questions(preview_of(b"a,b\n")) == []
    [question, _] = suggest_questions(preview_of(b'"5"" disk"\n1\n2\n4\n'))
    assert question == 'Show the distribution of "5\' disk"'
