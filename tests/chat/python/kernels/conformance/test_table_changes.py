"""Reports of a kernel about tables that cells change: 100 typical faults of analysts, and 100 harmless cells."""

from __future__ import annotations

import re

import pytest

from chat.python.kernels.client import KernelClient
from tests.conftest import Shown

PLACES = ("local-service",)

pytestmark = [pytest.mark.drill, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(600)]

MAKE = """
import numpy as np, pandas as pd
rng = np.random.default_rng({seed})
n = {rows}
sales = pd.DataFrame({{
    "id": np.arange(n), "city": rng.choice(["Ulm", "Bonn", "Köln"], n), "price": rng.normal(50, 9, n).round(2),
    "units": rng.integers(1, 40, n), "day": pd.date_range("2024-01-01", periods=n).astype(str),
}})
sales.loc[rng.choice(n, 7, replace=False), "price"] = np.nan
cities = pd.DataFrame({{"city": ["Ulm", "Bonn", "Köln"], "people": [127, 336, 1087]}})
"""
FAULTS = (
    ("sales = sales.dropna()", r"`sales`: \S+ -> \S+ rows.*`price` missing 7 -> 0"),
    ("sales = sales[sales.units > 5]", r"`sales`: \S+ -> \S+ rows"),
    ("sales.drop(sales.index[:9], inplace=True)", r"`sales`: \S+ -> \S+ rows"),
    ("clean = sales.query('price < 60')", r"`clean`: made from `sales`; \S+ -> \S+ rows"),
    ("sales['price'] = sales['price'].fillna(0)", "`sales`: `price` missing 7 -> 0"),
    ("filled = sales.fillna({'price': sales.price.mean()})", "`filled`: made from `sales`; `price` missing 7 -> 0"),
    ("sales = pd.concat([sales, sales])", r"rows; duplicate rows 0 -> "),
    ("sales = pd.concat([sales, sales.head(20)], ignore_index=True)", "duplicate rows 0 -> 20"),
    ("sales = sales.merge(pd.concat([cities, cities.head(1)]))", "A merge made .*keys occur more than once"),
    ("both = sales.merge(cities.tail(2), on='city')", r"A merge kept \S+ of \S+ rows"),
    ("cities['city'] = cities.city.str.upper()\nboth = sales.merge(cities, how='left')", "`both`: .*`people` missing"),
    ("sales['units'] = sales.units.shift(1)", "`units` missing 0 -> 1; `units` moved down by 1 row"),
    ("sales['units'] = np.roll(sales.units, 1)", "`units` moved down by 1 row"),
    ("sales['price'] *= 100", "`price` all values times 100"),
    ("sales.loc[:9, 'units'] *= 1000", "`units` 10 of .* values changed"),
    ("sales['price'] = sales.price / 1.19", "`price` all values times 0.840336"),
    ("sales['units'] = sales.units.sort_values().to_numpy()", "`units` .* values changed"),
    ("sales['day'] = pd.to_datetime(sales.day, format='%Y-%d-%m', errors='coerce')", "`day` str -> .*`day` missing"),
    ("sales['price'] = sales.price.fillna(0).astype(int)", "`price` float64 -> int64.*`price` .* values changed"),
    ("sales.loc[sales.city == 'Ulm', 'city'] = 'Bonn'", "`city` .* values changed"),
)
CLEAN = (
    *("sales.head()", "print(sales.price.mean())", "sales.describe()", "sales.groupby('city').price.sum()"),
    *("x = sales.units.sum()", "top = sales.nlargest(3, 'price')['id'].tolist()", "sales.isna().sum()"),
    *("by_city = sales.groupby('city')['price'].sum().reset_index()", "copy = sales.copy()", "sales = sales.copy()"),
    *("sales = sales.sort_values('price')", "sales = sales.sort_values('units', ignore_index=True)"),
    *("wide = sales.pivot_table(index='city', values='units', aggfunc='sum')", "sales['city'].value_counts()"),
    *("both = sales.merge(cities, on='city').shape", "table = sales.corr(numeric_only=True)", "sales[['id', 'city']]"),
    *("for row in sales.itertuples(): pass", "sales.to_csv('out.csv', index=False)", "np.asarray(sales.price).sum()"),
)


async def changes(kernel: KernelClient, code: str) -> str:
    execution = await kernel.execute(code)
    assert not execution.text.count("Traceback"), execution.text
    return "\n".join((await kernel.contents()).changes)


async def test_report_names_typical_mistakes_in_tables_and_no_harmless_changes(
    kernel: KernelClient, shown: Shown
) -> None:
    missed, alarms = [], []
    for seed in range(5):
        make = MAKE.format(seed=seed, rows=(60, 300, 1_000, 5_000, 20_000)[seed])
        for fault, expected in FAULTS:
            await changes(kernel, f"%reset -f\n{make}")
            said = await changes(kernel, fault)
            if not re.search(expected, said):
                missed.append((fault, said))
        for code in CLEAN:
            await changes(kernel, f"%reset -f\n{make}")
            if said := await changes(kernel, code):
                alarms.append((code, said))
    shown(f"faults: {100 - len(missed)} of 100 named; cells that change nothing: {len(alarms)} of 100 with a line")
    assert not missed
    assert not alarms


async def test_sorting_a_large_table_with_repeated_rows_is_not_reported_but_scaled_values_are(
    kernel: KernelClient,
) -> None:
    await changes(
        kernel, f"%reset -f\n{MAKE.format(seed=5, rows=50)}\nsales = pd.concat([sales] * 5_000, ignore_index=True)"
    )
    assert await changes(kernel, "sales = sales.sort_values('price')") == ""
    scaled = "sales = sales.sort_values('units', kind='stable')\nsales['price'] *= 100"
    assert await changes(kernel, scaled) == "`sales`: `price` all values times 100"


@pytest.mark.parametrize("repeated", [1, 5_000])
async def test_sorting_a_large_table_is_not_reported_but_changed_values_in_it_are(
    kernel: KernelClient, repeated: int
) -> None:
    """Rows are recognized by a number in them. In the table that repeats 50 rows, all rows are compared."""
    make = MAKE.format(seed=5, rows=250_000 // repeated)
    long = (
        f"%reset -f\n{make}\nsales = pd.concat([sales.assign(day=sales.day.str[:10])] * {repeated}, ignore_index=True)"
    )
    for code in ("sales.sort_values('price').reset_index(drop=True)", "sales.sort_values('units', ignore_index=True)"):
        await changes(kernel, long)
        assert await changes(kernel, f"other = {code}\nsales = {code}") == ""
    for fault in (
        "sales['units'] = sales.units.sort_values(ignore_index=True)",
        "sales['city'] = sales.city.sort_values(ignore_index=True)",
        "sales['price'] += 0.01",
        "sales.loc[3, 'units'] = 4711",
    ):
        await changes(kernel, long)
        said = await changes(kernel, f"sales = sales.sort_values('price', ignore_index=True)\n{fault}")
        assert "values changed" in said, (fault, said)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("sales.sort_values('price', inplace=True)", ""),
        ("sales = sales.sort_values('price').sort_values('city', kind='stable').reset_index(drop=True)", ""),
        (
            "x = sales.sort_values('price')\nx.loc[3, 'units'] = 4711",
            "made from `sales`; `units` 1 of 300 values changed",
        ),
        ("sales.sort_values('price', inplace=True)\nsales['units'] *= 2", "`sales`: `units` all values times 2"),
        ("sales = sales.sort_values('price').head(200)", "`sales`: 300 -> 200 rows"),
        ("sales.index = sales.index[::-1]", "`sales`: `id` 300 of 300 values changed"),
        ("sales['city'] = sales.city.astype('string')", "`sales`: `city` str -> string"),
        ("sales = sales.merge(cities, how='left')", "`sales`: new column `people`"),
    ],
)
async def test_columns_in_the_same_memory_are_not_compared_but_later_changes_are_reported(
    kernel: KernelClient, code: str, expected: str
) -> None:
    await changes(kernel, f"%reset -f\n{MAKE.format(seed=5, rows=300)}")
    said = await changes(kernel, code)
    assert expected in said
    assert bool(said) == bool(expected)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("sales = sales.sort_values('id', ascending=False).reset_index()", "`sales`: new column `index`"),
        (
            "sales = sales.sort_values('price', ignore_index=True)\nsales['total'] = sales.units.cumsum()",
            "`sales`: new column `total`",
        ),
        (
            "sales = sales.sort_values('price', ignore_index=True)\nsales.loc[3, 'units'] = 4711",
            "`sales`: `units` 1 of 300 values changed",
        ),
        (
            "x = sales.sort_values('id', ascending=False, ignore_index=True)\nsales['id'] = x['id']",
            "`sales`: `id` 300 of 300 values changed",
        ),
        ("sales = sales.sort_index(axis=1, ignore_index=True)", "`sales`: without 5 columns; 5 new columns"),
        ("bare.sort_index(ascending=False)\nbare = bare.head(2)", "`bare`: 3 -> 2 rows"),
    ],
)
async def test_only_columns_that_changed_are_reported_in_a_cell_that_also_sorts(
    kernel: KernelClient, code: str, expected: str
) -> None:
    await changes(kernel, f"%reset -f\n{MAKE.format(seed=5, rows=300)}\nbare = pd.DataFrame(index=range(3))")
    assert await changes(kernel, code) == expected


async def test_order_of_labels_is_reported_after_a_sort_that_moves_no_rows(kernel: KernelClient) -> None:
    await changes(kernel, f"%reset -f\n{MAKE.format(seed=5, rows=300)}")
    code = "ids = sales.sort_values('id')['id'].tolist()\nsales.index = sales.index[::-1]"
    assert "`id` 300 of 300 values changed" in await changes(kernel, code)


async def test_hooks_print_and_raise_no_errors_for_tables_that_cannot_be_copied(kernel: KernelClient) -> None:
    await changes(
        kernel,
        f"%reset -f\n{MAKE.format(seed=5, rows=30)}\nimport threading\n"
        "class Own(pd.DataFrame):\n    def copy(self):\n        raise TypeError\n"
        "own = Own(sales)\nlocked = sales.assign(one=1)\nlocked.attrs['lock'] = threading.Lock()",
    )
    execution = await kernel.execute("print(own.sort_values('units').units.iloc[0] == sales.units.min())")
    assert "Error" not in execution.text
    assert "True" in execution.text


async def test_warnings_and_errors_of_sort_and_join_methods_name_the_line_of_the_cell(kernel: KernelClient) -> None:
    await changes(kernel, f"%reset -f\n{MAKE.format(seed=5, rows=30)}")
    execution = await kernel.execute("x = 1\nsales.sort_values('units', inplace=True)")
    assert re.search(r"^Cell In\[\d+\], line 2: Pandas4Warning: The inplace keyword", execution.text, re.MULTILINE)
    for code in ("sales.sort_values('none')", "sales.merge(cities, on='none')"):
        execution = await kernel.execute(code)
        assert "KeyError: 'none'" in execution.text
        assert "watched" not in execution.text
        assert "plotline" not in execution.text


async def test_lost_rows_with_overlapping_intervals_as_labels_are_reported(kernel: KernelClient) -> None:
    labels = "pd.IntervalIndex.from_arrays(range(n), range(2, n + 2))"
    await changes(kernel, f"%reset -f\n{MAKE.format(seed=5, rows=300)}\nsales.index = {labels}")
    assert await changes(kernel, "sales = sales.head(290)") == "`sales`: 300 -> 290 rows"


async def test_sorting_a_part_of_a_new_table_does_not_keep_the_table_in_memory(kernel: KernelClient) -> None:
    code = (
        "import weakref\nlong = pd.DataFrame({'x': np.arange(1e5)})\ncells = weakref.ref(long['x'].to_numpy().base)\n"
        "part = long.iloc[:9].sort_values('x', ascending=False)\n"
        "print(cells() is None)\ndel long\nprint(cells() is None)"
    )
    await changes(kernel, f"%reset -f\n{MAKE.format(seed=5, rows=30)}")
    assert (await kernel.execute(code)).text == "False\nTrue\n"


@pytest.mark.parametrize("labels", ["sales.day.tolist()", "[0] * n"])
async def test_changed_cells_are_reported_if_new_row_numbers_replace_other_labels(
    kernel: KernelClient, labels: str
) -> None:
    await changes(kernel, f"%reset -f\n{MAKE.format(seed=5, rows=300)}\nsales.index = {labels}")
    code = "sales = sales.reset_index(drop=True)\nsales.loc[3, 'city'] = 'Rom'"
    assert await changes(kernel, code) == "`sales`: `city` 1 of 300 values changed"
