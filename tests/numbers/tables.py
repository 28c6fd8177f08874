"""Makes tables with pandas, and outputs of code about them. It runs in the Python of kernels and prints JSON lines.

Each line is one table: its language, its columns with their units, the rows, and each output with its code.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys

import pandas as pd

PLACES = {
    "en": ["Leeds", "Bristol", "Derby", "Norwich", "Exeter", "Cardiff", "Dundee", "Swansea", "York", "Bath", "Perth"],
    "de": ["Ulm", "Bonn", "Köln", "Kassel", "Bremen", "Erfurt", "Mainz", "Jena", "Gera", "Fulda", "Celle", "Trier"],
    "fr": ["Lyon", "Nantes", "Lille", "Nice", "Brest", "Dijon", "Tours", "Metz", "Nancy", "Pau", "Albi", "Caen"],
    "es": ["Sevilla", "Málaga", "Bilbao", "Murcia", "Vigo", "Gijón", "Toledo", "Burgos", "Cádiz", "León", "Ávila"],
    "zh": ["北京", "上海", "广州", "深圳", "成都", "杭州", "武汉", "西安", "南京", "苏州", "长沙", "青岛"],
    "hi": ["दिल्ली", "मुंबई", "पुणे", "जयपुर", "लखनऊ", "इंदौर", "भोपाल", "पटना", "सूरत", "नागपुर", "कोच्चि", "आगरा"],
}
PRODUCTS = {
    "en": ["Chairs", "Desk lamps", "Phones", "Paper", "Binders", "Copiers", "Tables", "Storage"],
    "de": ["Stühle", "Lampen", "Telefone", "Papier", "Ordner", "Kopierer", "Tische", "Regale"],
    "fr": ["Chaises", "Lampes", "Téléphones", "Papier", "Classeurs", "Copieurs", "Tables", "Étagères"],
    "es": ["Sillas", "Lámparas", "Teléfonos", "Papel", "Carpetas", "Copiadoras", "Mesas", "Estantes"],
    "zh": ["椅子", "台灯", "手机", "纸张", "文件夹", "复印机", "桌子", "书架"],
    "hi": ["कुर्सियाँ", "लैंप", "फ़ोन", "कागज़", "फ़ाइलें", "कॉपियर", "मेज़", "अलमारी"],
}
# Unit, least and greatest value, decimals, and the name of the column in each language.
METRICS = [
    ("€", 900, 950_000, 2, ["revenue_eur", "umsatz_eur", "ca_eur", "ventas_eur", "收入_eur", "आय_eur"]),
    ("", 20, 90_000, 0, ["orders", "bestellungen", "commandes", "pedidos", "订单", "आदेश"]),
    ("", 1_200_000, 98_000_000, 0, ["population", "einwohner", "habitants", "habitantes", "人口", "जनसंख्या"]),
    ("kg", 3, 900, 1, ["weight_kg", "gewicht_kg", "poids_kg", "peso_kg", "重量_kg", "वज़न_kg"]),
    ("%", 0.5, 60, 1, ["return_rate_pct", "quote_pct", "taux_pct", "tasa_pct", "退货率_pct", "दर_pct"]),
    ("°C", -12, 34, 1, ["temp_c", "temperatur_c", "temperature_c", "temperatura_c", "气温_c", "तापमान_c"]),
    ("", 1, 5, 2, ["rating", "bewertung", "note", "valoración", "评分", "रेटिंग"]),
]
LANGUAGES = ("en", "de", "fr", "es", "zh", "hi")


def main() -> None:
    """Print 50 tables. The argument is the number of the first one: other numbers make other tables."""
    first = int(sys.argv[1]) if sys.argv[1:] else 0
    for number in range(first, first + 50):
        chance = random.Random(number)
        language = LANGUAGES[number % len(LANGUAGES)]
        print(json.dumps(_table(number, language, chance), ensure_ascii=False))


def _table(number: int, language: str, chance: random.Random) -> dict[str, object]:
    labels = chance.sample((PLACES if number % 4 else PRODUCTS)[language], chance.randint(5, 8))
    metrics = chance.sample(METRICS, chance.randint(3, 4))
    key = ["city", "stadt", "ville", "ciudad", "城市", "शहर"][LANGUAGES.index(language)]
    frame = pd.DataFrame({key: labels})
    columns = []
    for unit, least, greatest, decimals, names in metrics:
        name = names[LANGUAGES.index(language)]
        log = greatest / least > 50 if least > 0 else False
        values = [
            least * (greatest / least) ** chance.random() if log else chance.uniform(least, greatest) for _ in labels
        ]
        frame[name] = [int(value) if not decimals else round(value, decimals) for value in values]
        columns.append({"name": name, "unit": unit, "decimals": decimals})
    first = columns[0]["name"]
    growth = [round(chance.uniform(-0.4, 0.6), 4) for _ in labels]
    changes = pd.Series(growth, index=frame[key], name="growth")
    programs = [
        ["print(df)", "print(df.to_string(index=False))", f"print(df.set_index({key!r}))"][number % 3],
        f"print(df[{first!r}].describe())" if number % 2 else "print(df.describe().round(2))",
        "\n".join(
            f"c = df[{name!r}]; print(f'{name}: total {{c.sum():,.2f}}, mean {{c.mean():.2f}}')"
            for name in [column["name"] for column in columns]
        ),
        f"print((df.set_index({key!r})[{first!r}] / df[{first!r}].sum()).round(4))",
        "print(growth)",
        "print(len(df), 'rows')",
    ]
    if number % 5 == 0:
        programs[0] = "display(df)"
    return {
        "language": language,
        "labels": labels,
        "columns": columns,
        "rows": json.loads(frame.drop(columns=key).to_json(orient="values")),
        "totals": [float(frame[column["name"]].sum()) for column in columns],
        "means": [float(frame[column["name"]].mean()) for column in columns],
        "shares": [float(one) for one in (frame[first] / frame[first].sum()).round(4)],
        "growth": growth,
        "outputs": [{"code": code, **_run(code, frame, changes)} for code in programs],
    }


def _run(code: str, frame: pd.DataFrame, growth: pd.Series) -> dict[str, str]:
    if code == "display(df)":
        return {"text": frame.to_string(), "html": frame.to_html()}
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {"df": frame, "pd": pd, "growth": growth})
    return {"text": output.getvalue()}


if __name__ == "__main__":
    main()
