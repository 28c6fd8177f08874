"""Sentences of the labelled answers, in six languages. `{v}` is a figure; all other digits are no claims.

Slots: `{r}` and `{s}` are rows, `{c}` a column, `{v}` and `{w}` the figures of these rows.
"""

from __future__ import annotations

ROW = {
    "en": [
        "{r} reached {v} in {c}.",
        "In {r}, the {c} was {v}.",
        "The {c} of {r} stands at **{v}**.",
        "At {v}, {r} is next.",
    ],
    "de": [
        "{r} erreichte bei {c} {v}.",
        "In {r} lag der Wert ({c}) bei {v}.",
        "Der Wert von {r} beträgt **{v}** ({c}).",
    ],
    "fr": ["{r} a atteint {v} pour {c}.", "À {r}, {c} s'élève à {v}.", "La valeur de {r} ({c}) est de **{v}**."],
    "es": ["{r} alcanzó {v} en {c}.", "En {r}, {c} fue de {v}.", "El valor de {r} ({c}) es **{v}**."],
    "zh": ["{r}的{c}为{v}。", "在{r},{c}达到{v}。", "{r}:{c} **{v}**。"],
    "hi": ["{r} में {c} {v} रहा।", "{r} का {c} **{v}** है।", "{c} के लिए {r} {v} तक पहुँचा।"],
}
PAIR = {
    "en": [
        "{r} ({v}) is ahead of {s} ({w}).",
        "{r} had {v} and {s} had {w} ({c}).",
        "{c}: {r} and {s} come to {v} and {w} respectively.",
    ],
    "de": [
        "{r} ({v}) liegt vor {s} ({w}).",
        "{r} hatte {v} und {s} hatte {w} ({c}).",
        "Bei {c} kam {r} auf {v}, {s} dagegen auf {w}.",
    ],
    "fr": [
        "{r} ({v}) devance {s} ({w}).",
        "{r} avait {v} et {s} avait {w} ({c}).",
        "Pour {c}, {r} obtient {v}, alors que {s} obtient {w}.",
    ],
    "es": [
        "{r} ({v}) supera a {s} ({w}).",
        "{r} tuvo {v} y {s} tuvo {w} ({c}).",
        "En {c}, {r} llega a {v}, mientras que {s} llega a {w}.",
    ],
    "zh": ["{r}({v})领先于{s}({w})。", "{c}方面,{r}为{v},{s}为{w}。"],
    "hi": ["{r} ({v}) {s} ({w}) से आगे है।", "{c}: {r} {v} और {s} {w}।"],
}
TOTAL = {
    "en": ["The total {c} is {v}.", "Altogether, {c} comes to {v}."],
    "de": ["Die Summe ({c}) beträgt {v}.", "Insgesamt ergibt {c} {v}."],
    "fr": ["Le total ({c}) est de {v}.", "Au total, {c} atteint {v}."],
    "es": ["El total ({c}) es de {v}.", "En conjunto, {c} suma {v}."],
    "zh": ["{c}合计{v}。", "总{c}为{v}。"],
    "hi": ["कुल {c} {v} है।"],
}
MEAN = {
    "en": ["On average, {c} is {v}.", "The mean {c} is about {v}."],
    "de": ["Im Durchschnitt liegt {c} bei {v}.", "Der Mittelwert ({c}) ist {v}."],
    "fr": ["En moyenne, {c} est de {v}.", "La moyenne ({c}) vaut {v}."],
    "es": ["En promedio, {c} es {v}.", "La media ({c}) es de {v}."],
    "zh": ["{c}平均为{v}。"],
    "hi": ["औसत {c} {v} है।"],
}
SHARE = {
    "en": ["{r} accounts for {v} of the {c}.", "The share of {r} is {v}."],
    "de": ["{r} macht {v} aus ({c}).", "Der Anteil von {r} beträgt {v}."],
    "fr": ["{r} représente {v} de {c}.", "La part de {r} est de {v}."],
    "es": ["{r} representa el {v} de {c}.", "La cuota de {r} es del {v}."],
    "zh": ["{r}占{v}。", "{r}的份额为{v}。"],
    "hi": ["{r} का हिस्सा {v} है।"],
}
RISE = {
    "en": ["{r} grew by {v}.", "Growth in {r}: {v}."],
    "de": ["{r} wuchs um {v}.", "Wachstum in {r}: {v}."],
    "fr": ["{r} a progressé de {v}.", "Croissance à {r} : {v}."],
    "es": ["{r} creció un {v}.", "Crecimiento en {r}: {v}."],
    "zh": ["{r}增长{v}。"],
    "hi": ["{r} में {v} की वृद्धि हुई।"],
}
FALL = {
    "en": ["{r} fell by {v}.", "{r} declined {v}."],
    "de": ["{r} sank um {v}.", "{r} verzeichnete einen Rückgang von {v}."],
    "fr": ["{r} a reculé de {v}.", "{r} affiche une baisse de {v}."],
    "es": ["{r} cayó un {v}.", "{r} registró una bajada del {v}."],
    "zh": ["{r}下降{v}。"],
    "hi": ["{r} में {v} की गिरावट आई।"],
}
GAP = {
    "en": ["The difference between {r} and {s} in {c} is {v}."],
    "de": ["Der Unterschied zwischen {r} und {s} ({c}) beträgt {v}."],
    "fr": ["L'écart entre {r} et {s} ({c}) est de {v}."],
    "es": ["La diferencia entre {r} y {s} ({c}) es de {v}."],
    "zh": ["{r}与{s}的{c}相差{v}。"],
    "hi": ["{r} और {s} के {c} का अंतर {v} है।"],
}
COUNT = {
    "en": ["The table has {v} rows."],
    "de": ["Die Tabelle hat {v} Zeilen."],
    "fr": ["Le tableau compte {v} lignes."],
    "es": ["La tabla tiene {v} filas."],
    "zh": ["该表共有{v}行。"],
    "hi": ["तालिका में {v} पंक्तियाँ हैं।"],
}
NO_CLAIM = {
    "en": [
        "I used pandas 2.2.3 on Python 3.12.",
        "As in 2023, Q3 comes first.",
        "The file is dated 3 May 2024, 14:30.",
        "See `df.head(5)` and [step 7](https://example.org/a/17).",
        "The 1st place and the 2nd place are clear.",
        "This predates COVID-19 and the A4 form.",
    ],
    "de": [
        "Verwendet wurde pandas 2.2.3 mit Python 3.12.",
        "Wie im Jahr 2023 liegt Q3 vorn.",
        "Stand: 3. Mai 2024, 14:30 Uhr.",
        "Siehe `df.head(5)` und [Schritt 7](https://example.org/a/17).",
        "Der 1. Platz und der 2. Platz sind klar.",
        "Das war vor COVID-19 und Windows 11.",
    ],
    "fr": [
        "J'ai utilisé pandas 2.2.3 avec Python 3.12.",
        "Comme en 2023, le T3 est en tête.",
        "Fichier du 3 mai 2024, 14 h 30.",
        "Voir `df.head(5)` et [étape 7](https://example.org/a/17).",
        "La 1re et la 2e place sont claires.",
        "C'était avant la COVID-19.",
    ],
    "es": [
        "He usado pandas 2.2.3 con Python 3.12.",
        "Como en 2023, el T3 va primero.",
        "Archivo del 3 de mayo de 2024, 14:30.",
        "Véase `df.head(5)` y [paso 7](https://example.org/a/17).",
        "El 1.º y el 2.º puesto están claros.",
        "Fue antes de la COVID-19.",
    ],
    "zh": [
        "使用了 pandas 2.2.3 和 Python 3.12。",
        "与2023年一样,第3季度最高。",
        "文件日期为2024年5月3日14:30。",
        "见 `df.head(5)` 和 [步骤7](https://example.org/a/17)。",
        "第1名和第2名很明显。",
    ],
    "hi": [
        "pandas 2.2.3 और Python 3.12 का उपयोग किया गया।",
        "2023 की तरह Q3 आगे है।",
        "फ़ाइल 3 मई 2024, 14:30 की है।",
        "देखें `df.head(5)`।",
        "पहला (1) चरण पूरा हुआ।",
    ],
}
HEADINGS = {"en": "Result", "de": "Ergebnis", "fr": "Résultat", "es": "Resultado", "zh": "结果", "hi": "परिणाम"}
UNIT_COLUMN = {"en": "City", "de": "Stadt", "fr": "Ville", "es": "Ciudad", "zh": "城市", "hi": "शहर"}
QUESTIONS = {
    "en": "Compare the rows for 2023 and say the totals.",
    "de": "Vergleiche die Zeilen für 2023 und nenne die Summen.",
    "fr": "Compare les lignes pour 2023 et donne les totaux.",
    "es": "Compara las filas de 2023 y di los totales.",
    "zh": "比较2023年的各行并给出合计。",
    "hi": "2023 की पंक्तियों की तुलना करें और कुल बताएँ।",
}
