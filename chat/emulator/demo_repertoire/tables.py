"""Prompts about tables: a CSV file, monthly sales."""

from __future__ import annotations

from chat.emulator.demo_repertoire.entry import DemoPrompt, PromptTexts

CSV_PROGRAM = """\
import matplotlib.pyplot as plt
import pandas as pd

path = "data.csv"
with open(path, encoding="utf-8-sig") as file:
    heading = file.readline()
table = pd.read_csv(path, sep=max(",;\\t|", key=heading.count), encoding="utf-8-sig")
numbers = table.select_dtypes("number")
print(table.head().to_string())
print()
print(numbers.describe().round(2).to_string() if len(numbers.columns) else "No numeric column.")
print()

if len(numbers.columns):
    shown = numbers.iloc[:, :6]
    labels = table.select_dtypes(exclude="number")
    named = len(labels.columns) > 0 and len(table) <= 30
    if named:
        shown = shown.set_axis(labels.iloc[:, 0].astype(str), axis=0)
    shown.plot(kind="bar" if named else "line", figsize=(8, 4.5), title=path)
    plt.tight_layout()
    plt.show()
    column = numbers.columns[-1]
    print(f"column: {column}")
    print(f"mean: {numbers[column].mean():.2f}")
    print(f"largest: {numbers[column].max():g}")

print(f"rows: {len(table)}")
print(f"columns: {len(table.columns)}")
"""
CSV = DemoPrompt(
    r"\bcsv\b|\btabelle\b|this (table|data|file)|数据|表格",
    CSV_PROGRAM,
    {
        "en": PromptTexts(
            "Describe and plot this CSV (attach a file)",
            "**Reading the table**\n\nFirst I look at the columns, then I draw the numeric ones.\n\n\n",
            "I'll read the file with pandas, describe it and plot its numbers.\n\n",
            "The table has **{rows}** rows and **{columns}** columns. In the column *{column}* the mean is "
            "**{mean}** and the largest value **{largest}**.",
        ),
        "de": PromptTexts(
            "Beschreibe diese CSV-Datei (mit Anhang)",
            "**Tabelle lesen**\n\nErst die Spalten ansehen, dann zeichnen.\n\n\n",
            "Ich lese die Datei mit pandas, beschreibe sie und zeichne ihre Zahlen.\n\n",
            "Die Tabelle hat **{rows}** Zeilen und **{columns}** Spalten. In der Spalte *{column}* ist der "
            "Mittelwert **{mean}** und der größte Wert **{largest}**.",
        ),
        "zh": PromptTexts(
            "描述并绘制这个 CSV 文件（请附上文件）",
            "**读取表格**\n\n先看各列，再画出数值列。\n\n\n",
            "我用 pandas 读取文件，描述它并画出其中的数值。\n\n",
            "表格有 **{rows}** 行、**{columns}** 列。*{column}* 一列的均值为 **{mean}**，最大值为 **{largest}**。",
        ),
    },
    needs_table=True,
)

SALES_PROGRAM = """\
import numpy as np
import pandas as pd

months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
random = np.random.default_rng(2)
table = pd.DataFrame({"units": random.integers(80, 200, 12), "price": random.uniform(9, 12, 12).round(2)}, months)
table["revenue"] = (table["units"] * table["price"]).round(2)
table["change"] = table["revenue"].pct_change().map("{:+.1%}".format)

print(table.to_string())
print()
print(f"total: {table['revenue'].sum():,.2f}")
print(f"best month: {table['revenue'].idxmax()}")
print(f"weakest month: {table['revenue'].idxmin()}")
"""
SALES = DemoPrompt(
    r"sales|monthly|umsatz|销售",
    SALES_PROGRAM,
    {
        "en": PromptTexts(
            "Make a table of monthly sales",
            "**Making a table**\n\nTwelve months with units, price and revenue.\n\n\n",
            "I'll make up twelve months of sales and sum them up.\n\n",
            "The year's revenue is **{total}**. The best month was **{best_month}**, the weakest "
            "**{weakest_month}**. The numbers are random, only the sums are real.",
        )
    },
)
