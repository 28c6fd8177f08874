"""Tables whose cells are canaries, ways to print them, and analyses whose answers need no row."""

from __future__ import annotations

import csv
import io
import random
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date, timedelta

REGIONS = ("North", "South", "East Anglia", "Köln", "Île-de-France", "北京", "W")
SYLLABLES = {
    "en": ["thorn", "beck", "wick", "shaw", "holt", "grove", "marsh", "field", "dale", "stow", "ridge", "combe"],
    "de": ["müh", "grün", "köpf", "straß", "wälz", "löb", "bür", "hött", "jäg", "füh", "süd", "röb"],
    "pl": ["szcz", "łod", "żar", "ków", "ęta", "źreb", "ńsk", "czyn", "rzep", "dług", "śwież", "brzoz"],
    "el": ["παπ", "δόπ", "ουλ", "γεωρ", "κωνστ", "άνδρ", "μιχ", "ελέν", "θεοδ", "χαρ", "ζωή", "ξέν"],
    "ru": ["щук", "бор", "мир", "яросл", "вят", "жел", "цвет", "ших", "глеб", "дуб", "кузн", "ольх"],
    "zh": list("梁颖璐欣磊鑫瑜翰霆骏峰婉晴昊泽楠彤瑾"),
}
"""Parts of invented words in six languages."""


@dataclass
class Canaries:
    """A table, and the texts in it that must stay private."""

    text: str
    """CSV."""
    words: set[str] = field(default_factory=set)
    """Words of cells, each in one cell only."""
    numbers: set[str] = field(default_factory=set)
    """The first six digits of numbers."""
    days: set[date] = field(default_factory=set)

    @property
    def count(self) -> int:
        """Number of canaries."""
        return len(self.words) + len(self.numbers) + len(self.days)

    def leaks(self, text: str) -> list[str]:
        """Return the canaries that a text shows, in whole or as a beginning of six letters."""
        plain = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)
        # Between labels, a beginning of five letters may stay.
        letters = re.sub(
            r"\[(?:text|date) \d+\]|\[[\w ]+\]|([^\w\[]+|[\[_])", lambda match: "" if match[1] else "|", fold(plain)
        )
        digits = re.sub(r"(?<=\d)[.,'’\u202f\u00a0 ](?=\d)", "", text)
        found = [word for word in self.words if fold(word)[: 2 if word[0] >= "\u2e80" else 6] in letters]
        found += [number for number in self.numbers if number in digits]
        return found + [f"{day}" for day in self.days if any(form in plain for form in day_forms(day))]


def fold(text: str) -> str:
    """Return the text in lower case and without accents."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))


def day_forms(day: date) -> list[str]:
    """Return ways to write a day."""
    patterns = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y", "%Y/%m/%d")
    return [day.strftime(pattern) for pattern in patterns] + [f"({day.year}, {day.month}, {day.day}"]


def make_canaries(seed: int, rows: int = 130) -> Canaries:
    """Return a table with canaries in seven of its ten columns."""
    rng = random.Random(seed)
    canaries = Canaries("")
    names = ["client", "place", "remark", "account", "balance", "ratio", "joined", "age", "segment", "grade"]
    table = [names]
    parts: set[str] = set()
    days = rng.sample(range(60 * 365), rows)
    while len(table) <= rows:
        first, last, place, odd = (new_word(rng, rng.choice([*SYLLABLES]), parts) for _ in range(4))
        day = date(1944, 1, 1) + timedelta(days[len(table) - 1])
        account, balance = str(rng.randrange(10**8, 10**9)), f"{rng.uniform(1e5, 9e5):.2f}"
        remark = f"{odd} asked {place} about the late delivery of {rng.randrange(3, 90)} parts, signed {last}"
        ratio = f"{rng.random():.9f}"
        canaries.words |= {first, last, place, odd}
        canaries.numbers |= {account[:6], balance[:6], ratio[2:8]}
        canaries.days.add(day)
        dense = [str(rng.randrange(18, 80)), rng.choice(["North", "South", "Ost", "M"]), rng.choice("ABC")]
        table.append([f"{first} {last}", place, remark, account, balance, ratio, day.isoformat(), *dense])
    buffer = io.StringIO()
    csv.writer(buffer).writerows(table)
    canaries.text = buffer.getvalue()
    return canaries


def new_word(rng: random.Random, language: str, parts: set[str]) -> str:
    """Return a word that begins differently from all earlier words."""
    while True:
        word = "".join(rng.choice(SYLLABLES[language]) for _ in range(3 if language == "zh" else 4)).capitalize()
        start = fold(word)[: 2 if language == "zh" else 6]
        if start not in parts and (language == "zh" or len(word) > 7):
            parts.add(start)
            return word


READ = "import pandas as pd, numpy as np, json, csv, io\ndf = pd.read_csv('c.csv')\n"
WAYS = (
    "print(df.head())",
    "print(df)",
    "print(df.to_string())",
    "df",
    "df.client",
    "print(df.describe(include='all').to_string())",
    "print(df.client.value_counts().head(20))",
    "print(df.groupby('place').balance.sum())",
    "for _, r in df.iterrows():\n    print(f'{r.client} of {r.place} has {r.balance:,.2f} since {r.joined}')",
    "for r in df.itertuples():\n    print(r)",
    "print(df.head(30).to_dict())",
    "print(df.head(30).to_dict('records'))",
    "print(df.values[:40])",
    "df.values.tolist()[:40]",
    "print(json.dumps(df.head(30).to_dict('records')))",
    "print(json.dumps(df.head(30).to_dict('records'), ensure_ascii=False, indent=2))",
    "print(df.head(30).to_json())",
    "print(df.assign(joined=pd.to_datetime(df.joined)).head(30).to_json(date_format='epoch'))",
    "for row in csv.reader(open('c.csv')):\n    print(row)",
    "print(open('c.csv').read()[:20000])",
    "print(df.head(40).to_csv(sep=';', decimal=','))",
    "print(df.head(40).to_html())",
    "print(df.head(40).to_markdown())",
    "print(df.head(20).to_latex())",
    "df.set_index('client').loc['nobody']",
    "df.set_index('client').loc[df.client[3] + ' Jr', 'age']",
    "[float(x) for x in df.place]",
    "pd.to_datetime(df.remark)",
    "int(df.client[5])",
    "{}[df.place[7]]",
    "raise ValueError(f'cannot use {df.client[8]!r} with {df.account[8]} of {df.joined[8]}')",
    "assert df.balance[0] == 1, (df.client[0], df.balance[0])",
    "print(df.balance.max(), df.balance.min(), df.account.max(), df.joined.min(), df.client.max())",
    "print(df.nlargest(5, 'balance')[['client', 'balance']])",
    "print(df.sort_values('ratio').client.tolist())",
    "for x in pd.to_datetime(df.joined)[:60]:\n"
    "    print(repr(x), x.date(), x.strftime('%d.%m.%Y'), x.strftime('%B %d, %Y'), x.strftime('%m/%d/%Y'))",
    "for x in pd.to_datetime(df.joined)[:60]:\n"
    "    print(repr(x.date()), x.strftime('%Y%m%d'), x.strftime('%d %B %Y'), x.strftime('%d-%b-%Y'))",
    "for x in df.balance[:60]:\n    print(f'{x:,.2f} {x:e} {x:.0f} {x:.4e} EUR{x:.2f}', f'{x:,.2f}'.replace(',', ' '))",
    "for x in df.ratio[:60]:\n    print(f'{x:.6%} {x:.9f} {x!r} {x:.7f}')",
    "print([x[:9] for x in df.client], [x[:40] + '...' for x in df.remark])",
    "print([x.upper() for x in df.client], [x.split() for x in df.client], [x.split()[-1] for x in df.client])",
    "import textwrap\nprint(textwrap.fill(' '.join(df.remark), 50))",
    "print(df.client.str.encode('utf-8').tolist()[:30], repr(ascii(df.place.tolist())))",
    "print(np.array(df.balance), df.balance.to_numpy()[:30].astype(str), df.account.astype(str).tolist())",
    "from pprint import pprint\npprint(df.head(20).to_dict('list'), width=60)",
    "print(pd.crosstab(df.place, df.grade).head(30))",
    "print(df.pivot_table(index='client', columns='grade', values='balance').head(30))",
    "import warnings\nwarnings.warn(f'odd value {df.place[11]} {df.balance[11]}')",
    "open('report of ' + df.client[2] + '.txt')",
    "df.query('client == 1 +')",
    "print(df.T.iloc[:, :12])",
    "pd.set_option('display.max_colwidth', 14)\nprint(df[['client', 'remark', 'joined']])\npd.reset_option('all')",
    "import reprlib\nprint(reprlib.repr(df.remark.tolist()), [reprlib.repr(x) for x in df.client])",
    "import sys, logging\nlogging.error('row %s', df.iloc[4].tolist())\nprint(df.iloc[5], file=sys.stderr)",
    "print(df.sample(9, random_state=1), df[df.age > 60])",
    "print(df.balance.round(1).tolist(), df.balance.astype(int).tolist(), [f'{x:.8g}' for x in df.balance])",
    "print(*df.itertuples(index=False, name=None), sep='\\n')",
    "print('\\n'.join('|'.join(map(str, row)) for row in df.values))",
    "print({row.client: (row.balance, row.joined) for row in df.itertuples()})",
    "print(df.client.to_frame().to_dict('index'), df.set_index('client').balance.to_dict())",
)
"""Code that shows cells."""

SAVED = (
    "df.to_excel('x.xlsx', index=False)",
    "df.to_excel('x.xlsx', index=False, startrow=4)",
    "df.to_parquet('x.parquet')",
    "df.to_feather('x.feather')",
    "df.to_stata('x.dta', version=118)",
    "df.to_json('x.json', orient='records')",
    "df.to_json('x.jsonl', orient='records', lines=True, force_ascii=False)",
    "df.set_index('client').to_json('x.json', orient='index')",
    "df.to_csv('x.csv', sep=';', decimal=',', index=False)",
    "df.to_csv('x.tsv', sep='\\t')",
    "open('x.csv', 'w').write('Report of ' + df.client[0] + '\\n\\n' + df.to_csv(index=False))",
    "df.assign(joined=pd.to_datetime(df.joined).dt.strftime('%d.%m.%Y')).to_csv('x.csv', index=False)",
    "open('x.txt', 'w').write('\\n'.join(f'{r.client}: {r.remark} {r.place} ({r.account}, {r.balance}, {r.ratio}, '\n"
    "    f'{r.age}, {r.grade}, {r.segment}) since {r.joined}.' for r in df.itertuples()))",
    "open('x.md', 'w').write(df.astype(str).to_markdown(disable_numparse=True))",
    "df.astype(str).to_html('x.html')",
)
"""Code that saves the table in other formats."""
WAYS_OF_FORMATS = (WAYS[0], WAYS[2], WAYS[8], WAYS[15], WAYS[39])

SALES = "import pandas as pd, numpy as np\nfrom scipy import stats\ndf = pd.read_csv('s.csv')\n"
ANALYSES = (
    "print(len(df), df.shape[1])",
    "print(df.revenue.mean())",
    "print(f'{df.revenue.mean():,.2f}')",
    "print(df.revenue.sum())",
    "print(df.revenue.std(), df.revenue.var())",
    "print(df.isna().sum())",
    "print(df.groupby('region').revenue.mean())",
    "print(df.groupby('region').revenue.agg(['count', 'mean', 'sum']))",
    "print(df.region.value_counts())",
    "print(df.region.value_counts(normalize=True).round(3))",
    "print(f'{(df.age > 40).mean():.1%}')",
    "print((df.age > 40).sum())",
    "print(df[['age', 'revenue', 'visits']].corr())",
    "r = stats.linregress(df.age, df.revenue)\nprint(r.slope, r.intercept, r.rvalue, r.pvalue)",
    "print(np.polyfit(df.visits, df.revenue, 1))",
    "print(df.groupby('year').revenue.sum())",
    "print(df.groupby('year').revenue.sum().pct_change())",
    "print(df.revenue.quantile([.1, .25, .5, .75, .9]))",
    "print(df.revenue.median())",
    "a, b = df[df.grade == 'A'].revenue, df[df.grade == 'B'].revenue\nprint(stats.ttest_ind(a, b))",
    "print(stats.chi2_contingency(pd.crosstab(df.region, df.grade))[:3])",
    "print(pd.crosstab(df.region, df.grade))",
    "print(pd.pivot_table(df, index='region', columns='grade', values='revenue', aggfunc='mean'))",
    "print(df.dtypes)",
    "print(df.region.nunique(), df.customer.nunique())",
    "print(df.duplicated().sum())",
    "top = df.groupby('region').revenue.sum().idxmax()\nprint('Most revenue:', top)",
    "print(df.groupby(['year', 'region']).size().unstack())",
    "print(pd.cut(df.age, [0, 30, 50, 99]).value_counts().sort_index())",
    "print(f'{df.revenue.sum() / df.visits.sum():.3f} per visit, {df.age.mean():.1f} years')",
    "print(df.age.skew(), df.age.kurt())",
    "df.info()",
)
"""Code whose answers need no row."""


def make_sales(seed: int) -> str:
    """Return a table of sales as CSV, of another size and scale for each seed."""
    rng = random.Random(seed)
    rows, scale = rng.choice([60, 200, 482, 1_500, 5_000]), rng.choice([1, 30, 1_000, 50_000])
    decimals = rng.choice([0, 0, 2])
    lines = ["customer,region,grade,year,age,visits,revenue"]
    regions = rng.sample(REGIONS, 4)
    for number in range(rows):
        age, visits = rng.randrange(18, 90), rng.randrange(1, 60)
        revenue = "" if rng.random() < 0.02 and seed % 2 else f"{rng.lognormvariate(1, 0.6) * scale:.{decimals}f}"
        cells = [
            f"{rng.choice(SYLLABLES['en'])}{number}",
            rng.choice(regions),
            rng.choice("ABC"),
            2019 + rng.randrange(5),
        ]
        lines.append(",".join(map(str, [*cells, age, visits, revenue])))
    return "\n".join(lines)
