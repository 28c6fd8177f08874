"""Recognizes statistics by their names in tables and in the languages of answers: mean, median, quartiles,
slope. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from chat.messages.numbers.caches import cache_short_texts
from chat.messages.numbers.mentions import HALF, Mention
from chat.messages.numbers.skipped import ORDINAL, PERCENTILE, TO

_LABELS: Final = {
    "mean": "mean average avg mittel mittelwert moyenne media promedio 平均 均值 औसत",
    "median": "median q2 50% médiane mediana 中位数 माध्यिका",
    "std": "std sd stdev",
    "min": "min minimum",
    "max": "max maximum",
    "25%": "q1",
    "75%": "q3",
    "count": "count n",
    "sum": "sum total all gesamt summe 合计 कुल",
    "slope": "slope coef pente pendiente steigung 斜率 ढाल",
    "intercept": "intercept const constant constante konstante ordonnée ordenada achsenabschnitt 截距",
    "r2": "r2 r²",
    "se": "se stderr bse erreur-type",
    "ci": "ci",
    "r": "r",
    "weighted": "weighted",
    "simple": "simple unweighted",
    "difference": "difference diff meandiff delta gap range iqr change δ",
    "ratio": "ratio",
}
_KIND_OF_LABEL: Final = {label: kind for kind, labels in _LABELS.items() for label in labels.split()}
_QUANTILE: Final = re.compile(r"0?\.(?:[1-9]0?|[05]5|9[0-9])|0?\.0[1-9]|0?\.[1-9]5")
"""Arguments of `quantile()`, which pandas prints as labels."""
_PERCENTILE: Final = re.compile(r"\d+(?:\.\d+)?%")
_QUARTILES: Final = ("q1", "q3")
MINUTES: Final = re.compile(r"(?<=\d)[ _]?min\b")
_OF_COLUMNS: Final = frozenset({"mean", "median", "std", "min", "max", "se"})
_OF_MODELS: Final = frozenset({"slope", "intercept", "r2", "se"})
_KINDS_OF_MEANS: Final = frozenset({"weighted", "simple"})
_FAR_CHARS: Final = 30
"""Maximum number of characters between a word such as `weighted` and the word for a mean that it belongs to."""
_WORDS: Final = {
    "se": r"(?:standard error|standardfehler|erreur[- ]type|error (?:estándar|típico))"
    r"(?: (?:of|der|des|de|del) (?:the |la |l['’])?[^\W\d]\w*)?|标准误差?|मानक त्रुटि",
    "std": r"(?:standard|std\.?) ?dev\w*|\bstd\b|standardabweichung|écart[- ]type|desviación (?:estándar|típica)|"
    r"desv\. \w+|标准差|मानक विचलन",
    "ci": r"confidence|konfidenz\w*|intervalle de confiance|intervalo de confianza|置信区间|विश्वास|\bci\b|"
    r"\bic\b(?= ?(?:à|de|del|al)? ?\d\d ?%)",
    "r": r"\br ?(?==)|correlation|korrelation|corrélation|correlación|相关系数|सहसंबंध",
    "simple": r"unweighted|ungewichtet\w*|non pondérée?|sin ponderar|\bsimple\b|\beinfache\w*|简单|साधारण|सरल",
    "weighted": r"weighted|gewichtet\w*|pondérée?|ponderad[oa]|加权|भारित",
    "ratio": r"\bratio|verhältnis|rapport entre|razón|比值|अनुपात",
    "difference": r"\bdifference|\bgap\b|distance|unterschied|abstand|differenz|\bécart\b|différence|"
    r"diferencia|distancia|brecha|相差|差距|差值|अंतर|फ़ासला",
    HALF: r"(?:middle |central )?half of|\ba quarter of|\bein viertel de|\bun quart des|\buna? cuart[ao]|四分之一|"
    r"mittlere hälfte|hälfte der|moitié (?:centrale )?des|mitad (?:central )?de|"
    r"一半的|आधे मान|आधे आँकड़े",
    "median": r"median\w*|médian\w*|中位数?|माध्यिका|मध्यिका",
    "mean": r"averag\w*|\bmean\b|durchschnitt\w*|mittelwert\w*|\b(?:arithmetische[sn]? |im )?mittel\b|gesamtmittel|"
    r"moyen(?:ne)?s?\b|promedio|\bmedia\b|平均值?|均值|औसत",
    "max": r"maxim\w*|máxim\w*|largest|highest|greatest|(?:größte|höchste)\w*|"
    r"plus (?:grande?|haute?|élevée?)|\bmayor\b|"
    r"más (?:alt|elevad)[oa]|最大值?|最高值?|अधिकतम|सबसे (?:बड़|अधिक|ज़्यादा|ऊँच)",
    "min": r"minim\w*|mínim\w*|smallest|lowest|(?:kleinste|niedrigste|geringste)\w*|plus (?:petite?|basse?)|"
    r"\bmenor\b|más baj[oa]|最小值?|最低值?|न्यूनतम|सबसे (?:छोट|कम)",
    "intercept": r"intercept|achsenabschnitt|ordonnée à l['’]origine|ordenada en el origen|截距|अंतःखंड|अवरोध",
    "r2": r"\br ?(?:²|\^ ?2|2\b)|bestimmtheitsmaß|决定系数",
    "slope": r"\bslope|\bsteigung\b|\bpente\b|\bpendiente\b|斜率|ढाल",
    "10%": r"(?:first|bottom|lowest) (?:tenth|decile|(?=and ninth dec))|(?:untere|erste)\w* (?:zehntel|dezil)|"
    r"premier (?:décile|(?=et (?:le )?neuvième))|primer (?:decil|(?=y noveno))",
    "90%": r"(?:ninth|top) (?:tenth|decile)|(?:obere|oberste|neunte)\w* (?:zehntel|dezil)|neuvième décile|noveno decil",
    "25%": r"(?<![\d-])q1\b|(?:lower|first) quartile|(?:untere|erste)\w* quartil|premier quartile|primer cuartil|"
    r"下四分位数?",
    "75%": r"(?<![\d-])q3\b|(?:upper|third) quartile|(?:obere|dritte)\w* quartil|troisième quartile|"
    r"tercer cuartil|上四分位数?",
    "percentile": rf"\d\d?{ORDINAL}(?={TO}\d\d?{ORDINAL}[ -]?(?:{PERCENTILE}))|"
    r"\bp ?\d\d?\b|\d\d?(?:th|st|nd|rd|e|º|\.|वें|वाँ)?[ -]?(?:per[cz]entil|centil|पर्सेंटाइल|百分位)\w*|"
    r"\b(?:per[cz]entil\w*|centile) \d\d?\b|第 ?\d\d? ?(?:个)?百分位数?|"
    r"\b(?:le|the|das|el) [1-9][05](?:e|th|\.|º)(?= )",
}
_WORD: Final = re.compile("|".join(f"(?P<g{n}>{words})" for n, words in enumerate(_WORDS.values())))
_KINDS: Final = tuple(_WORDS)


@cache_short_texts(maxsize=4096)
def label_statistic(label: str) -> str:
    """Return the statistic that a label names, such as `mean`, or `10%` for a percentile; empty if it names none or
    several.
    """
    words = re.split(r"[^\w%.]+|_|\.(?!\d)", MINUTES.sub("", label))
    # A label such as `q1_taste` names a question or a quarter.
    words = words if len(words) == 1 else [word for word in words if word not in _QUARTILES]
    found = {_KIND_OF_LABEL.get(word) or (word if _PERCENTILE.fullmatch(word) else "") for word in words} - {""}
    if not found.isdisjoint(_KINDS_OF_MEANS):
        found.discard("mean")
    return found.pop() if len(found) == 1 else ""


def is_other_statistic(statistic: str, said: frozenset[str]) -> bool:
    """Return whether a statistic is surely another one than those that a sentence names. For counts and sums this is
    never sure, because they have too many names.
    """
    if statistic in said:
        return False
    if statistic in _KINDS_OF_MEANS or not said.isdisjoint(_KINDS_OF_MEANS):
        return statistic in _OF_COLUMNS | _KINDS_OF_MEANS and bool(said) and {statistic, *said} != {"simple", "mean"}
    is_of_column = statistic in _OF_COLUMNS or statistic.endswith("%")
    if is_of_column and any(one in _OF_COLUMNS or one.endswith("%") for one in said):
        return True
    return statistic in _OF_MODELS and not said.isdisjoint(_OF_MODELS)


def quantile_label(key: str) -> str:
    """Return the label for an argument of `quantile()`, such as `10%` for 0.1; empty for other texts."""
    return f"{round(float(key) * 100)}%" if _QUANTILE.fullmatch(key) else ""


@cache_short_texts(maxsize=1024)
def statistic_mentions(text: str) -> tuple[Mention, ...]:
    """Return the statistics that a text names, in order. `text`: in lower case."""
    found = tuple(
        Mention(match.start(), match.end(), _kind(match[0], _KINDS[int((match.lastgroup or "g0")[1:])]))
        for match in _WORD.finditer(text)
    )
    has_percentiles = any(one.label.endswith("%") for one in found)
    are_means = any(one.label in ("mean", "weighted") for one in found)
    found = tuple(
        one for one in found if not (one.label == HALF and has_percentiles) and (are_means or one.label != "simple")
    )
    return tuple(replace(one, label=_kind_of_mean(one, found, text)) for one in found)


def _kind_of_mean(mean: Mention, found: Sequence[Mention], text: str) -> str:
    """Return `weighted` or `simple` if such a word is beside a mean; otherwise the label of the mean."""
    for one in found if mean.label == "mean" else ():
        between = text[min(one.end, mean.end) : max(one.start, mean.start)]
        if one.label in _KINDS_OF_MEANS and len(between) < _FAR_CHARS and not any(map(str.isdigit, between)):
            return one.label
    return mean.label


def _kind(word: str, kind: str) -> str:
    """Return the label of a statistic. For a percentile, it has the number of the words."""
    if kind != "percentile":
        return kind
    percent = "".join(filter(str.isdigit, word))
    return "median" if percent == "50" else f"{percent}%"
