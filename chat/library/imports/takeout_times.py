"""Reads the times in Google's activity files, which have the format of the account's language. Pure.

Known forms: `Nov 5, 2025, 1:34:47 AM CEST`, `5. nov. 2025, 01:34:47 CEST`, `16.10.2025, 10:08:52 MESZ`,
`2025/11/13 20:10:22 JST`, `2026年3月26日 13:08:19 HKT` and ISO 8601.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

LINE_LIMIT_CHARS = 80
"""Maximum length of a line with a time. Longer lines are no times."""

_TIME = re.compile(r"(?<![\d.])(\d{1,2})[:.](\d{2})[:.](\d{2})(?!\d)")
_NUMBER = re.compile(r"\d{1,4}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_ZONE = re.compile(
    r"(?:GMT|UTC|غرينتش|گرینویچ) ?([+\u2212-])(\d{1,2})(?::?(\d{2}))?|([+\u2212-])(\d{1,2})(?::?(\d{2}))? ?گرینویچ"
)
_HALF_DAY = re.compile(r"[ap]\. ?m\.|[ap]m\b|[πμ]\.μ\.|[صم](?!\w)", re.IGNORECASE)
_AFTERNOON = ("오후", "下午", "午後", "பிற்பகல்")
_MORNING = ("오전", "上午", "午前", "முற்பகல்")
_CROATIAN = re.compile(r"(lip|srp|lis)\w{0,12}\.? \d{4}\.")
_CROATIAN_MONTHS = {"lip": 6, "srp": 7, "lis": 10}
"""Croatian names that mean other months in Polish and Czech, where no dot follows the year."""
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e]")
_MONTHS = {
    stem: number
    for number, stems in enumerate(
        (
            "jan ene gen ian sty oca янв січ led tam ιαν sij",
            "feb fév fev lut şub фев úno hel φεβ velj",
            "mar mär mrz maa márc мар bře μαρ mrt ožu",
            "apr abr avr kwi nis апр dub huh απρ ápr tra",
            "may mai maj mei mag май мая kvě tou μαΐ máj svi",
            "jun jui giu cze iun haz июн čer kes ιουν jún",
            "jul juil lug lip iul tem июл čvc hei ιουλ júl",
            "aug ago aoû sie ağu авг srp elo αυγ avg kol",
            "sep set wrz eyl сен zář syy σεπ ruj",
            "oct okt ott out paź eki окт říj lok οκτ",
            "nov kas ноя marras νοε lis stu",
            "dec dez des déc dic gru ara дек pro jou δεκ",
        ),
        start=1,
    )
    for stem in stems.split()
}
"""Beginning of the name of a month -> month, in languages that write a name."""
_OTHER_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "يناير ינו जन ม.ค. січ ژانویه জানু ஜன",
            "فبراير פבר फ़र ก.พ. лют فوریه ফেব பிப்",
            "مارس מרץ मार्च มี.ค. берез মার্চ மார்",
            "أبريل אפר अप्रै เม.ย. квіт آوریل এপ্রিল ஏப்",
            "مايو מאי मई พ.ค. трав مه মে மே",
            "يونيو יוני जून มิ.ย. черв ژوئن জুন ஜூன்",
            "يوليو יולי जुल ก.ค. лип ژوئیه جولای জুল ஜூலை",
            "أغسطس אוג अग ส.ค. серп اوت আগ ஆக",
            "سبتمبر ספט सित ก.ย. верес سپتامبر সেপ செப்",
            "أكتوبر אוק अक्टू ต.ค. жовт اکتبر অক্টো அக்",
            "نوفمبر נוב नव พ.ย. лист نوامبر নভে நவ",
            "ديسمبر דצמ दिस ธ.ค. груд دسامبر ডিসে டிச",
        ),
        start=1,
    )
    for name in names.split()
}
"""Name of a month -> month. They are searched anywhere in a date: its words may contain articles, marks or dots."""
_ZONES = {
    **dict.fromkeys(("UTC", "GMT", "Z", "WET"), 0),
    **dict.fromkeys(("CET", "MEZ", "BST", "WEST", "SEČ"), 60),
    **dict.fromkeys(("CEST", "MESZ", "SELČ", "EET", "OEZ", "SAST"), 120),
    **dict.fromkeys(("EEST", "OESZ", "MSK", "TRT", "EAT"), 180),
    **dict.fromkeys(("IRST",), 210),
    **dict.fromkeys(("IST",), 330),
    **dict.fromkeys(("WIB", "ICT"), 420),
    **dict.fromkeys(("HKT", "SGT", "AWST", "PHT", "MYT"), 480),
    **dict.fromkeys(("JST", "KST"), 540),
    **dict.fromkeys(("AEST",), 600),
    **dict.fromkeys(("AEDT",), 660),
    **dict.fromkeys(("NZST",), 720),
    **dict.fromkeys(("NZDT",), 780),
    **dict.fromkeys(("BRT", "ADT"), -180),
    **dict.fromkeys(("EDT", "AST"), -240),
    **dict.fromkeys(("EST", "CDT"), -300),
    **dict.fromkeys(("CST", "MDT"), -360),
    **dict.fromkeys(("MST", "PDT"), -420),
    **dict.fromkeys(("PST", "AKDT"), -480),
}
"""Time zone -> minutes ahead of UTC. Other zones are read as UTC."""


def read_time(line: str) -> datetime | None:
    """Return the time in UTC if the whole line is a time, else `None`."""
    text = " ".join(_DIRECTION.sub("", line).split())
    if not 12 <= len(text) <= LINE_LIMIT_CHARS:
        return None
    if text[:4].isdigit() and text[10:11] == "T":
        return _iso_time(text)
    match = _TIME.search(text)
    if match is None:
        return None
    offset, before = _offset(text), _ZONE.sub("", text[: match.start()])
    after = text[match.end() :].strip()
    # In Vietnamese, the date is written after the time.
    date = _read_date(before) or (None if before else _read_date(_ZONE.sub("", after)))
    if date is None or len(_WORD.findall(after)) > 4:
        return None
    hour, minute, second = (int(number) for number in match.groups())
    half_day = _HALF_DAY.match(after)
    is_afternoon = half_day[0][0] in "pPμم" if half_day else any(word in before for word in _AFTERNOON)
    if hour <= 12 and (half_day or is_afternoon or any(word in before for word in _MORNING)):
        hour = hour % 12 + (12 if is_afternoon else 0)
    try:
        local = datetime(*date, hour, minute, second, tzinfo=timezone(timedelta(minutes=offset)))
        return local.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _iso_time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _read_date(text: str) -> tuple[int, int, int] | None:
    """Return year, month and day; `None` for a text that is no date."""
    numbers = [int(number) for number in _NUMBER.findall(text)]
    if len(numbers) == 3:
        year, month, day = numbers if numbers[0] > 31 else (numbers[2], numbers[1], numbers[0])
        # Some languages write the month before the day.
        return (year, day, month) if month > 12 else (year, month, day)
    croatian = _CROATIAN.search(text.lower())
    months = [_CROATIAN_MONTHS[croatian[1]]] if croatian else []
    months = months or [number for word in _WORD.findall(text.lower()) if (number := _month(word))]
    months = months or [number for name, number in _OTHER_MONTHS.items() if name in text]
    if len(numbers) != 2 or not months:
        return None
    year = max(numbers)
    # The year of Thai dates is 543 higher.
    return year - 543 if year > 2400 else year, months[0], min(numbers)


def _month(word: str) -> int | None:
    lengths = range(len(word), 1, -1)
    return next((_MONTHS[word[:length]] for length in lengths if word[:length] in _MONTHS), None)


def _offset(text: str) -> int:
    """Return how many minutes a time zone is ahead of UTC."""
    if match := _ZONE.search(text):
        sign, hours, minutes = match[1] or match[4], match[2] or match[5], match[3] or match[6]
        offset = int(hours) * 60 + int(minutes or 0)
        return offset if sign == "+" else -offset
    words = [word.strip("[]()") for word in reversed(text.split())]
    if "CST" in words and "年" in text:
        return _ZONES["HKT"]
    return next((_ZONES[word] for word in words if word in _ZONES), 0)
