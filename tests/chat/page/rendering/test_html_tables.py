"""Tables and text read from HTML: real output of pandas and polars, any table, and hostile HTML."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.page.rendering.html_tables import TABLES_LIMIT, HtmlContent, read_html
from chat.page.rendering.tables import CELLS_LIMIT, COLUMNS_LIMIT, ROWS_LIMIT, Table
from chat.vocabulary.html_content import TEXT_LIMIT_CHARS, HtmlNote
from chat.vocabulary.html_elements import CELL_LIMIT_CHARS, HTML_LIMIT_CHARS
from tests.display_bundles import (
    MULTI_INDEX_HTML,
    POLARS_HTML,
    SHORTENED_HTML,
    SMALL_HTML,
    STYLER_HTML,
    wide_html,
)
from tests.time_growth import GROWTH_LIMIT, time_growth


def only_table(source: str) -> Table:
    """Return the table of HTML that has one table and no text."""
    (piece,) = read_html(source).pieces
    assert isinstance(piece, Table)
    return piece


def test_data_frame_is_read_with_its_index_and_size() -> None:
    table = only_table(SMALL_HTML)
    assert [[cell.text for cell in row] for row in table.header] == [["", "city", "population", "area"]]
    assert table.rows == (
        ("0", "Oslo", "709037.0", "454.12"),
        ("1", "Rome, Italy", "2746984.0", "1287.36"),
        ("2", "=1+1", "NaN", "-3.50"),
    )
    assert table.index_columns == 1
    assert table.right_columns == {2, 3}
    assert table.size == "3 rows × 3 columns"


def test_texts_of_several_header_rows_are_joined_into_column_names() -> None:
    table = only_table(MULTI_INDEX_HTML)
    assert table.rows[1] == ("p", "2", "4", "5", "6")
    assert table.index_columns == 2
    assert table.column_names == ["group", "what / unit / key", "size / w", "size / h", "cost / eur"]
    assert table.size == "4 rows × 3 columns"


def test_size_of_a_shortened_data_frame_includes_the_rows_that_are_not_shown() -> None:
    table = only_table(SHORTENED_HTML)
    assert len(table.rows) == 11
    assert table.gap_rows == {5}
    assert 2 in table.number_columns
    assert table.size == "100 rows × 3 columns, of which 10 rows are here"


def test_styled_data_frame_is_read_with_its_caption() -> None:
    table = only_table(STYLER_HTML)
    assert table.caption == "Cities"
    assert table.index_columns == 0
    assert table.rows[2] == ("=1+1", "nan", "-3.500000")


def test_note_says_that_colours_of_a_styled_table_are_not_shown() -> None:
    rules = '<style type="text/css">\n#T_1_row0_col0 {\n  background-color: #f7fbff;\n}\n'
    content = read_html(STYLER_HTML.replace('<style type="text/css">\n', rules))
    assert content.pieces[1:] == (HtmlNote("The colours of cells are not shown here."),)
    assert len(content.tables[0].rows) == 3


def test_cells_have_the_addresses_of_links_and_the_descriptions_of_pictures() -> None:
    source = '<table><tr><td><a href="https://e.org/a">a</a></td><td><img alt="cat" src="data:"></td></tr></table>'
    assert only_table(source).rows == (("a (https://e.org/a)", "[cat]"),)


def test_data_frame_of_polars_is_read_with_its_types() -> None:
    table = only_table(POLARS_HTML)
    assert [[cell.text for cell in row] for row in table.header] == [["foo", "bar"], ["i64", "str"]]
    assert table.rows[0] == ("1", '"a<"')
    assert table.right_columns == {0}
    assert table.size == "3 rows × 2 columns"


def test_table_with_unclosed_tags_is_read() -> None:
    table = only_table("<TABLE><TR><TH>a<TH>b<TR><TD>1<br>x<TD> 2\n 3 <TR><TD colspan=2><p>4</p><p>5</p></TABLE>")
    assert [[cell.text for cell in row] for row in table.header] == [["a", "b"]]
    assert table.rows == (("1\nx", "2 3"), ("4\n5", ""))


def test_html_text_before_between_and_after_tables_is_read_in_order() -> None:
    content = read_html("<h1>Title</h1><p>One <b>two</b></p><table><td>1</table>between<table><td>2</table>end")
    pieces = [piece.rows if isinstance(piece, Table) else piece for piece in content.pieces]
    assert pieces == ["# Title\nOne two", (("1",),), "between", (("2",),), "end"]


def test_table_inside_a_table_is_read_as_a_table_and_the_outer_one_as_text() -> None:
    content = read_html("<table><tr><td>left<table><tr><td>1</td></tr></table></td><td>right</td></tr></table>")
    pieces = [piece.rows if isinstance(piece, Table) else piece for piece in content.pieces]
    assert pieces == ["left", (("1",),), "right"]


@pytest.mark.parametrize(
    ("source", "is_tabular"),
    [
        (SMALL_HTML, True),
        ("<p>text</p>", False),
        ("<table></table>", False),
        (f"<p>{'word ' * 500}</p><table><tr><td>1</td></tr></table>", False),
        (f"<p>{'word ' * 30}</p><table><tr><td>1</td></tr></table>", True),
    ],
)
def test_html_is_shown_as_tables_only_if_tables_are_a_large_part_of_it(source: str, is_tabular: bool) -> None:
    assert read_html(source).is_tabular == is_tabular


@pytest.mark.parametrize("source", ["", " ", "<!-- x -->", "<style>a</style>", "<template>a</template>", "<", "\ud800"])
def test_html_without_visible_content_gives_at_most_a_single_character(source: str) -> None:
    assert [piece for piece in read_html(source).pieces if piece not in ("<", "?")] == []


def test_hidden_elements_give_no_text() -> None:
    source = "<table><td>a<script>x</script><style>y</style><template>z</template><svg><text>s</text></svg>b</table>"
    assert only_table(source).rows == (("ab",),)


TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\xad\ufffe\uffff\u2028\u2029\x85"), max_size=12
)
GRIDS = st.integers(1, 5).flatmap(lambda width: st.lists(st.lists(TEXTS, min_size=width, max_size=width), min_size=1))


@given(GRIDS)
def test_escaped_text_of_cells_is_read_unescaped(grid: list[list[str]]) -> None:
    lines = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in grid)
    table = only_table(f"<table><tbody>{lines}</tbody></table>")
    assert table.rows == tuple(tuple(" ".join(text.split()) for text in row) for row in grid)


PIECES = ["<table>", "</table>", "<tr>", "<td>", "<th>", "</td>", "<thead>", "</thead>", "<caption>", "<br>", "<p>"]
PIECES += ["<td rowspan=3>", "<th colspan=9 rowspan=0>", "<td colspan=-1>", "<td colspan=99999999999>", "a", "1", "<"]
PIECES += [
    "&lt;b&gt;",
    "<!--",
    "-->",
    "<svg>",
    "<script>",
    "</script>",
    "<div>",
    "</div>",
    "<tbody>",
    "1 rows × 2 columns",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_html_gives_tables_whose_rows_have_equal_lengths(source: str) -> None:
    content = read_html(source)
    for table in content.tables:
        assert len({len(row) for row in table.rows}) <= 1
        assert table.index_columns <= len(table.column_names)
        assert table.size
    assert content == read_html(source)


# Limits


def test_rows_and_columns_above_the_limits_are_left_out_but_counted_in_the_size() -> None:
    table = only_table(wide_html(3, COLUMNS_LIMIT + 50))
    assert len(table.rows[0]) == COLUMNS_LIMIT
    assert table.size == f"3 rows × {COLUMNS_LIMIT + 50} columns, of which {COLUMNS_LIMIT - 1} columns are here"
    table = only_table(wide_html(3_000, 1))
    assert len(table.rows) == ROWS_LIMIT
    assert table.size == f"3,000 rows × 1 column, of which {ROWS_LIMIT:,} rows are here"
    table = only_table(wide_html(3_000, 20))
    assert len(wide_html(3_000, 20)) > HTML_LIMIT_CHARS
    assert sum(map(len, table.rows)) <= CELLS_LIMIT
    assert table.size.startswith("3,000 rows × 20 columns, of which")


def test_long_cells_and_long_texts_of_html_are_cut() -> None:
    assert len(only_table(f"<table><td>{'x' * 3_000}</table>").rows[0][0]) == CELL_LIMIT_CHARS
    assert len(read_html("<p>word</p>" * 30_000).text) < 2 * TEXT_LIMIT_CHARS


def test_tables_above_the_limit_are_left_out_and_their_number_is_reported() -> None:
    content = read_html("<table><td>1</table>" * (TABLES_LIMIT + 5))
    assert len(content.tables) == TABLES_LIMIT
    assert (content.left_out_tables, content.text) == (5, "")


HOSTILE_UNITS = [
    *("<!--", "<a ", '<a "', "</", '<a a="', "<b a=1>", "<b a=1><p>", "<table>", "<table><tr><td>", "<tr>", "<td>"),
    *("<td colspan=1000 rowspan=1000>", "<table><td>1</table>", "&#", "&lt", "<br>", "<i></p>", "<svg><p>", "<form>"),
    *("<table><caption>", "<tr><td rowspan=1000>", "1 rows × ", "shape: (1,", "9,", "<style>", "<![CDATA[", "\0"),
]


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_time_to_read_hostile_html_is_linear(unit: str) -> None:
    beginning = "<table>" if unit.startswith(("<t", "<td")) else ""

    def read(length: int) -> HtmlContent:
        read_html.cache_clear()
        return read_html(beginning + unit * (length // len(unit)))

    assert time_growth(read, HTML_LIMIT_CHARS) < GROWTH_LIMIT
