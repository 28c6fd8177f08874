"""Delimited texts are read with the rows and names that people see in them, and pandas reads the same with the code."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from chat.python.kernels.client import JupyterClient
from chat.python.kernels.in_kernel.table_source import Choices, Source, Unreadable, pandas_names
from chat.python.kernels.in_kernel.table_text import read_text_file
from tests.kernel_service import shared_service

LOGGER = (
    '"TOA5","ST-14","CR1000X","99417","OS.05"\n"TIMESTAMP","RECORD","AirT_Avg","RH"\n'
    '"TS","RN","Deg C","%"\n"","","Avg","Smp"\n'
)
HOURS = "".join(f"2024-05-01 {hour:02}:00,{hour},15.{hour},60\n" for hour in range(24))
UNCLOSED = "id,text,points\n" + "".join(f'{n},"t {n}{"" if n == 20 else chr(34)},{n}\n' for n in range(50))
BREAKS = "id,t\n" + "".join(f'{n},"line\n\nnext, {n}\n"\n' for n in range(30))
SEMICOLONS = "Report;;\na;b;c\n" + "".join(f"{n},5;{n},25;{n},75\n" for n in range(300))
ACCOUNT = (
    "Kontonummer;DE12\nZeitraum;01.01.2024 - 31.01.2024\n\nBuchung;Wert;Text;Betrag\n"
    "01.01.2024;01.01.2024;Miete;-500,00\n02.01.2024;02.01.2024;Lohn;1.500,00\n"
)
CASES: dict[str, tuple[str, int, list[str]]] = {
    "logger": (LOGGER + HOURS, 24, ["TIMESTAMP", "RECORD", "AirT_Avg", "RH"]),
    "logger whose first line is as wide": (
        LOGGER.replace(',"OS.05"', "") + HOURS,
        24,
        ["TIMESTAMP", "RECORD", "AirT_Avg", "RH"],
    ),
    "unclosed quote": (UNCLOSED, 50, ["id", "text", "points"]),
    "line breaks in cells": (BREAKS, 30, ["id", "t"]),
    "decimal commas everywhere": (SEMICOLONS, 300, ["a", "b", "c"]),
    "account": (ACCOUNT, 2, ["Buchung", "Wert", "Text", "Betrag"]),
    "companies": ("Company\nMicrosoft\nApple, Inc.\nSAP\n", 3, ["Company"]),
    "dates en": (
        "Date\nJanuary 1, 2024\nJanuary 2, 2024\nJanuary 3, 2024\nJanuary 4, 2024\nJanuary 5, 2024\n",
        5,
        ["Date"],
    ),
    "thousands": ("Umsatz\n1,234\n2,234\n3,234\n4,234\n5,234\n", 5, ["Umsatz"]),
    "sentences": (
        "comment\nI like it, really.\nNo, I do not, and never will, sorry.\nFine.\nWell, ok.\n",
        4,
        ["comment"],
    ),
    "title": ("Report 2024\n\na,b\nx,1\ny,2\n", 2, ["a", "b"]),
    "pipe": ("a|b|c\n1|x|2\n3|y|4\n", 2, ["a", "b", "c"]),
    "spaces": (
        "name      age  city\nHans Meier  23  Ulm\nAnna Berg   31  Bonn\nUwe Graf    44  Bad Ems\n",
        3,
        ["name", "age", "city"],
    ),
    "spaces1": ("x y\n1 2\n3 4.5\n5 6\n", 3, ["x", "y"]),
    "sep": ("sep=;\na;b\n1;2\n3;4\n", 2, ["a", "b"]),
    "unclosed end": ('a,b\n1,"x\n2,y\n3,z\n', 3, ["a", "b"]),
    "mid quotes": ('item,n\n5" nail,1\n6"" nail,2\n"say ""hi""",3\n', 3, ["item", "n"]),
    "multiline": ('a,b\n"x\ny",1\n"z\n\nw, v",2\nq,3\n', 3, ["a", "b"]),
    "multiline head": ('"a\nline",b\nx,1\n', 1, ["a\nline", "b"]),
    "total": (
        "shop,month,units\nS0,2024-01,5\nS1,2024-01,7\nS2,2024-02,9\nTotal,,21\n\nSource: till system\n",
        3,
        ["shop", "month", "units"],
    ),
    "total doubt": ("shop,units\nA,5\nB,7\nTotal,99\n", 3, ["shop", "units"]),
    "keyless sum": ("shop,units\nA,5\nB,7\nC,12\n,24\n", 3, ["shop", "units"]),
    "keyvalue": (
        "Device,X12\nSite,Ulm\nserial,123\n\ntime,temp,hum\n2024-01-01 10:00,5.5,60\n2024-01-01 11:00,5.6,61\n",
        2,
        ["time", "temp", "hum"],
    ),
    "keyvalue2": (
        "Device,X12\nSite,Ulm\n\ntime,temp\n2024-01-01 10:00,5.5\n2024-01-01 11:00,5.6\n2024-01-01 12:00,5.6\n",
        3,
        ["time", "temp"],
    ),
    "keydate": ("Created,2024-01-01,\nname,day,units\na,2024-01-02,3\nb,2024-01-03,4\n", 2, ["name", "day", "units"]),
    "comment head": ("# made by X\n# t, v\n1,2\n3,4\n", 2, ["t", "v"]),
    "units": ("time,speed,mass\n,m/s,kg\n2024-01-01,5,6\n2024-01-02,6,7\n", 2, ["time", "speed", "mass"]),
    "units br": ("t,v\n[s],[V]\n1,2\n3,4\n", 2, ["t", "v"]),
    "group": (
        ",2023,,2024,\nRegion,units,revenue,units,revenue\nN,1,2,3,4\nS,5,6,7,8\n",
        2,
        ["Region", "2023 / units", "2023 / revenue", "2024 / units", "2024 / revenue"],
    ),
    "years": ("Region,2022,2023,2024\nN,1,2,3\nS,4,5,6\n", 2, ["Region", "2022", "2023", "2024"]),
    "numbers names": ("point,1,2,3\nA,5.5,6,7\nB,8,9,1\n", 2, ["point", "1", "2", "3"]),
    "corner": (",1,2\nA,5,6\nB,7,8\n", 2, ["", "1", "2"]),
    "nohead": ("1,2\n3,4\n", 2, ["column 1", "column 2"]),
    "nohead text": (
        "Ulm,2024-01-01,5\nBonn,2024-01-02,6\nKiel,2024-01-03,7\n",
        3,
        ["column 1", "column 2", "column 3"],
    ),
    "dup": ("a,a,,b\n1,2,3,4\n5,6,7,8\n", 2, ["a", "a", "", "b"]),
    "trailing": ("a,b,\n1,2,\n3,4,\n", 2, ["a", "b"]),
    "trailing2": ("a,b\n1,2,\n3,4,\n", 2, ["a", "b"]),
    "ragged more": ("a,b\n1,x\n2,y,z\n3,w\n", 3, ["a", "b", ""]),
    "ragged less": ("a,b,c\n1,x,2\n2,y\n3,w,5\n", 3, ["a", "b", "c"]),
    "repeated": ("a,b\n1,x\n2,y\na,b\n3,z\n", 3, ["a", "b"]),
    "blank delims": ("a,b\n1,x\n,\n2,y\n,\n", 2, ["a", "b"]),
    "escape": ('a,b\n"say \\"hi\\", ok",1\n"x",2\n', 2, ["a", "b"]),
    "alltext": ("city,country\nUlm,DE\nParis,FR\n", 2, ["city", "country"]),
    "na first": ("city,n\nUlm,n/a\nBonn,5\nKiel,6\n", 3, ["city", "n"]),
    "kr": ("cost;result\n10 kr;(1,000.50)\n11 kr;1,001.50\n12 kr;1,002.50\n", 3, ["cost", "result"]),
    "sep dashes": ("a|b\n---|---\n1|x\n2|y\n", 2, ["a", "b"]),
    "subtotals": ("k,v\nA,1\nB,2\nTotal,3\nC,4\nD,5\nTotal,9\nE,1\n", 7, ["k", "v"]),
    "date total": ("day,v\n2024-01-01,1\n2024-01-02,2\nGesamt,77\n", 2, ["day", "v"]),
    "onecol total": ("v\n1\n2\n3\nTotal\n", 3, ["v"]),
    "dtypes": ("id,name,score\nint,string,float\n1,x,2.5\n2,y,3.5\n", 2, ["id", "name", "score"]),
    "footer fields": ("a,b,c\n1,x,2\n3,y,4\n\nSource: Office, 2024, all rights\n", 2, ["a", "b", "c"]),
    "mac": ("a,b\r1,x\r2,y\r", 2, ["a", "b"]),
    "missing last": ("k,v\nA,1\nB,2\nC,\n", 3, ["k", "v"]),
    "decimal list names": ("Name,Wert\nA,1\nB,2\nC\n", 3, ["Name", "Wert"]),
    "semis in": ("id,tags,n\n1,red;green,2\n2,blue;red;x,3\n3,a;b,4\n", 3, ["id", "tags", "n"]),
    "insgesamt": (
        "Land;2021;2022\nBayern;5;6\nHessen;7;9\nInsgesamt;12;15\nQuelle: Amt, 2023\n",
        2,
        ["Land", "2021", "2022"],
    ),
    "total of": (
        "Campaign,Clicks,CTR\nA,1,1.5%\nB,2,2.5%\nTotal: Campaigns,3,2.0%\n",
        2,
        ["Campaign", "Clicks", "CTR"],
    ),
    "drawn end": ("n,m\n1,2\n2,5\n__________\nSource: Office\n", 2, ["n", "m"]),
    "joined with marks": ("\ufeffa,b\n1,2\n\ufeffa,b\n3,4\n", 2, ["a", "b"]),
    "russian": ("Город;Сумма\nМосква;5\nКазань;6\nИтого;11\n", 2, ["Город", "Сумма"]),
    "total missing number": ("k,n,m\na,1,2\nb,3,4\nTotal,4,\n", 2, ["k", "n", "m"]),
    "total dot thousands": ("k;n\na;1.500,50\nb;2.500,25\nSumme;4.000,75\n", 2, ["k", "n"]),
    "names in a comment": ("# run 1 b\n#\n# x y err\n1.5 2 0.1\n2.5 3 0.2\n3.5 4 0.3\n", 3, ["x", "y", "err"]),
    "rule below names": (
        "id   name    n\n---- ------- ---\n1    bolt a  5\n2    nut b   6\n3    pin c   7\n\n(3 rows affected)\n",
        3,
        ["id", "name", "n"],
    ),
    "short rows after a gap": ('k,n,m\na,1,2\nb,2,3\n\n"id","note"\n1,Estimate.\n', 2, ["k", "n", "m"]),
    "short rows after a rule": ("k,n,m\na,1,2\nb,2,3\n-------\n2 records\npaid: 3, 5.00\n", 2, ["k", "n", "m"]),
    "full rows after a gap": ("k,n,m\na,1,2\nb,2,3\n\nc,3,4\nd,4\n", 4, ["k", "n", "m"]),
    "names with signs of comments": ("Bank;\n#day;#n;\n2024-01-02;5;;\n2024-01-03;6;;\n", 2, ["#day", "#n"]),
    "invisible characters around names": ("\u200ek,\u200fn\u200f\na,1\nb,2\n", 2, ["k", "n"]),
    "row numbers of R": ('"a","b"\n"1",5,"x"\n"2",6,"y"\n', 2, ["", "a", "b"]),
    "names on each page": ("k,n\na,1\nb,2\n\fk,n\nc,3\n", 3, ["k", "n"]),
    "sentences with semicolons": ("note\ngood; fast\nlate\nok; but small; red\nfine\n", 4, ["note"]),
    # The label of a total can be in any language; one column of sums alone may be chance.
    "total in an unknown language": ("k,n,m\na,1,3\nb,2,6\nc,3,9\nGuztira,6,18\n", 3, ["k", "n", "m"]),
    "last row is a sum by chance": ("k,n\na,1\nb,2\nc,3\nd,6\n", 4, ["k", "n"]),
    "last row is the largest": (
        "k,n,m\na,1.1,0.001\nb,1.101,0.002\nc,1.102,0.002\nd,1.103,0.004\n",
        4,
        ["k", "n", "m"],
    ),
    "last row of ones": ("k,n,m\na,1,0\nb,0,1\nc,0,0\nd,1,1\n", 4, ["k", "n", "m"]),
    "total of an account": ("k,a,n\na,x,1\nb,y,2\nAccount Total,--,3\n", 2, ["k", "a", "n"]),
    "total without a value": ("k,a,n\na,x,1\nb,y,2\nTotal\n", 2, ["k", "a", "n"]),
    "statistics": ("k,n\na,1\nb,2\nc,9\nMean,4\nStd Dev,4.36\nMin,1\nMax,9\n", 3, ["k", "n"]),
    "Max is a name": ("k,n\nEva,1\nJan,3\nMax,2\nAverage,2\n", 3, ["k", "n"]),
    **{
        f"total {word}": (f"k,n\na,5\nb,7\n{word},12\n", 2, ["k", "n"])
        for word in ("Summa", "Tổng cộng", "Усього", "Σύνολο", "جمع کل", "סה״כ", "รวม", "Jumlah", "Ukupno")
    },
    "total first col id": ("id,name,amount\n1,x,5\n2,y,6\n,Total,11\n", 2, ["id", "name", "amount"]),
    "last is total city": ("city,n\nUlm,5\nTotal,3\nBonn,1\n", 3, ["city", "n"]),
    "footer key": ("a,b,c\nk,1,2\nm,2,3\n\nStand: 2024\n", 2, ["a", "b", "c"]),
    "years float": ("Land;2020;2021\nA;1,5;2,5\nB;3,5;4,5\n", 2, ["Land", "2020", "2021"]),
    "years in body": ("2020,5\n2021,6\n2022,7\n", 3, ["column 1", "column 2"]),
    "months": ("Product,2024-01,2024-02\nA,5,6\nB,7,8\n", 2, ["Product", "2024-01", "2024-02"]),
    "three header": (
        ",A,,B,\n,x,y,x,y\nk,lo,hi,lo,hi\nr,1,2,3,4\ns,5,6,7,8\n",
        2,
        ["k", "A / x / lo", "A / y / hi", "B / x / lo", "B / y / hi"],
    ),
    "group repeat": (
        "Region,2023,2023,2024,2024\nRegion,units,revenue,units,revenue\nN,1,2,3,4\nS,5,6,7,8\n",
        2,
        ["Region", "2023 / units", "2023 / revenue", "2024 / units", "2024 / revenue"],
    ),
    "value above the names, right of the rows": (
        ",,,,x\na,b,c,d,e\n1,2,3\n4,5,6\n7,8,9\n",
        3,
        ["a", "b", "c", "d", "e"],
    ),
    "units empty": ("station;date;temp\n;;°C\nA;2024-01-01;5,5\nB;2024-01-02;5,6\n", 2, ["station", "date", "temp"]),
    "keycolon": (
        "Station: Ulm\nOperator: DWD\nPeriod: 2024\n\ndate,temp\n2024-01-01,5.5\n2024-01-02,5.6\n",
        2,
        ["date", "temp"],
    ),
    "percent hash": ("#,name,qty\n1,a,5\n2,b,6\n", 2, ["#", "name", "qty"]),
    "hash cells": ("tag,n\n#x,1\n#y,2\n", 2, ["tag", "n"]),
    "sep tab txt": ("a\tb\tc\n1,5\tx\t2\n2,5\ty\t3\n", 2, ["a", "b", "c"]),
    "pipes md": ("| a | b |\n|---|---|\n| 1 | x |\n| 2 | y |\n", 2, ["a", "b"]),
    "pipes md unclosed": ('| a | b |\n|---|---|\n| 1 | "x |\n| 2 | y |\n| 3 | "z" w |\n', 3, ["a", "b"]),
    "onecol mixed decimal": ("Wert\n1,5\n2\n3,125\nk.A.\n", 4, ["Wert"]),
    "onecol urls": ("url\nhttp://x.org/a?b=1,2\nhttp://x.org/a\n", 2, ["url"]),
    "onecol lastfirst": ("Name\nMüller, Hans\nMeier, Anna\nKunz, Uwe\n", 3, ["Name"]),
    "unclosed head": ('"a,b\n1,2\n3,4\n', 2, ["a", "b"]),
    "unclosed ml": ('id,text\n1,"a\nb"\n2,"c\n3,"d"\n4,e\n', 4, ["id", "text"]),
    "index below levels of names": (
        "Price,Close,Volume\nTicker,XYZ,XYZ\nDate,,\n2024-01-02,1.5,10\n2024-01-03,2.5,20\n",
        2,
        ["Date", "Close / XYZ", "Volume / XYZ"],
    ),
    "title of rows in a column of texts": (
        "item,2022,2023\nAssets,,\ncash,1,2\nland,3,4\n",
        3,
        ["item", "2022", "2023"],
    ),
    "survey": (
        'StartDate,ResponseId,Q1\nStart Date,Response ID,"How good, overall?"\n'
        '"{""ImportId"":""startDate""}","{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"\n'
        "2024-03-04 09:30:00,R_0x,1\n2024-03-04 09:31:00,R_1x,2\n",
        2,
        ["StartDate", "ResponseId", "Q1"],
    ),
    "descriptions below codes": (
        "GEO_ID,NAME,B01001_001E\nGeography,Geographic Area Name,Estimate!!Total:\n"
        "0500001,County 1,36\n0500002,County 2,67\n",
        2,
        ["GEO_ID", "NAME", "B01001_001E"],
    ),
    "psql": (
        " id |   name    | amount \n----+-----------+--------\n"
        "  1 | Shelf 0   |    0.0\n  2 | Shelf 1   |    2.5\n(2 rows)\n\n",
        2,
        ["id", "name", "amount"],
    ),
    "mysql": (
        "+----+------+\n| id | name |\n+----+------+\n"
        "|  1 | Anna |\n|  2 | Bo   |\n+----+------+\n2 rows in set (0.00 sec)\n",
        2,
        ["id", "name"],
    ),
    "oscilloscope": (
        "Model,DS-4\nFirmware Version,1.26\nSample Interval,1e-03,s\nRecord Length,3,Points\n\n"
        "TIME,CH1\n0.0,-4.5\n0.001,2.25\n0.002,0.75\n",
        3,
        ["TIME", "CH1"],
    ),
    "titles": ("title\nReport 1: costs, part 1\nReport 2: costs, part 2\nReport 3: costs, part 0\n", 3, ["title"]),
    "streets": ("street\nRoad 1\nRoad 2\nLane 3\nLane 4\n", 4, ["street"]),
    "quoted inch": ('size,n\n"5" nail",1\n"6" nail",2\n', 2, ["size", "n"]),
}
"""Name -> a text, its number of rows, and the names of its columns."""
CHOSEN: list[tuple[str, Choices, int, list[str]]] = [
    ("city,n\nUlm,4\nBonn,5\n", {"header_rows": 0}, 3, ["column 1", "column 2"]),
    ("city,n\nname,pcs\nUlm,4\nBonn,5\n", {"header_rows": 2}, 2, ["city / name", "n / pcs"]),
    (
        ",2023,,2024,\nRegion,units,revenue,units,revenue\nN,1,2,3,4\nS,5,6,7,8\n",
        {"header_rows": 1},
        3,
        ["", "2023", "", "2024", ""],
    ),
    ("a;b,c\n1;2,3\n4;5,6\n", {"delimiter": ","}, 2, ["a;b", "c"]),
    ("a,b\n1,2\n4,5\n", {"delimiter": ";"}, 2, ["a,b"]),
    ("a b\n1 2\n", {"delimiter": " "}, 1, ["a", "b"]),
]


def read(text: str, choices: Choices | None = None) -> Source:
    return read_text_file(text.encode(), "table.csv", choices or {})


@pytest.mark.parametrize("name", CASES)
def test_rows_and_column_names_are_those_that_a_person_sees(name: str) -> None:
    text, rows, names = CASES[name]
    source = read(text)
    assert (source.row_count, list(source.names)) == (rows, names)
    assert source.examined_rows == rows
    assert all(len(column) == rows for column in source.columns)


@pytest.mark.parametrize(("text", "choices", "rows", "names"), CHOSEN)
def test_choices_of_a_person_decide_how_a_text_is_read(
    text: str, choices: Choices, rows: int, names: list[str]
) -> None:
    source = read(text, choices)
    assert (source.row_count, list(source.names)) == (rows, names)
    assert {key: source.reading[key] for key in choices} == choices  # type: ignore[literal-required]


NOTES = {
    LOGGER + HOURS: [
        "A row above the names of columns is left out: “TOA5, ST-14, CR1000X, 99417, OS.05”.",
        "2 rows below the names of columns are read as units or descriptions: “TS, RN, Deg C, % | Avg, Smp”.",
    ],
    UNCLOSED: ["A quote in line 22 is never closed, so it is read as part of its cell."],
    "a,b\n1,x\n\n2,y,z\n3\n": [
        "1 row has fewer cells than the header: line 5.",
        "1 row has more cells than the header: line 4.",
    ],
    "a,b\n1,x\na,b\n2,y\n": ["The names of columns are repeated in 1 row below, left out here."],
    "shop,units\nA,5\nTotal,99\nB,7\n": ["1 row looks like a total and is counted as a row, such as “Total”."],
    "region,units\nNorth,5\nNorth Total,5\nSouth,7\nSouth Total,7\nEast,1\n": [
        "2 rows look like totals and are counted as rows, such as “North Total”."
    ],
    "day,text,amount\n2024-03-01,Opening balance,5\n2024-03-02,Rent,7\n2024-03-03,Fee,2\n": [
        "1 row looks like a total and is counted as a row, such as “Opening balance”."
    ],
    "shop,units\nA,5\nB,7\nTotal,12\nSource: till system\n": [
        "The row of totals at the end is left out: “Total, 12”.",
        "A row after the table is left out: “Source: till system”.",
    ],
    "a,b\n1,2\n# pause\n3,4\n": ["A line that begins with # is left out: “# pause”."],
    "sep=;\na;b\n1;2\n": ["The cells are separated by semicolons."],
}


@pytest.mark.parametrize("text", NOTES)
def test_notes_report_what_is_left_out_or_unusual_in_a_text(text: str) -> None:
    assert list(read(text).notes) == NOTES[text]


def test_units_in_the_row_below_the_header_become_notes_of_the_columns() -> None:
    assert read(LOGGER + HOURS).column_notes == ["TS", "RN", "Deg C, Avg", "%, Smp"]


def test_header_can_be_chosen_if_it_is_uncertain() -> None:
    assert read("Ulm,2024-01-01,5\nBonn,2024-01-02,6\n").candidates == {"header_rows": (1,)}
    assert read("a,b\n1,2\n").candidates == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<!DOCTYPE html><p>", "web page"),
        ("%PDF-1.7 x", "PDF"),
        ("MIME-Version: 1.0\nX: y\n", "MHTML"),
        (",,\n,\n", "no cell with a value"),
    ],
)
def test_text_without_a_table_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(text)


@pytest.mark.parametrize(
    "text",
    ["x" * 2**20, "," * 2**18, '"' * 2**18, 'a,"b\n' * 2**16, "a,b\n" + 'x,"y\n' + 'q,""\n' * 2**16, " \n" * 2**18],
)
def test_hostile_text_is_read_or_refused_and_raises_no_other_error(text: str) -> None:
    with suppress(Unreadable):
        read(text)


READ_ALL = """
import json, pandas as pd, warnings
warnings.simplefilter("ignore")
answers = []
for text, code in CASES:
    open("same.csv", "w").write(text)
    frame = eval(code)
    answers.append([len(frame), [str(name) for name in frame.columns]])
print(json.dumps(answers))
"""


@pytest.mark.asyncio
async def test_generated_pandas_code_reads_the_same_rows_and_column_names() -> None:
    sources = {text: read(text) for text, _, _ in CASES.values()}
    cases = [
        (text, source.code.replace("NAME", "'same.csv'").replace("MORE", ""))
        for text, source in sources.items()
        if source.code
    ]
    client = JupyterClient(shared_service())
    async with client.new_kernel() as kernel:
        execution = await kernel.execute(f"CASES = {cases!r}\n{READ_ALL}")
    await client.aclose()
    found = {text: tuple(answer) for (text, _), answer in zip(cases, json.loads(execution.text), strict=True)}
    assert len(found) >= len(CASES) - 1
    assert found == {
        text: (source.row_count, pandas_names(source.names)) for text, source in sources.items() if source.code
    }
