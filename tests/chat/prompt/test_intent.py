"""The decision on code execution: its precision and recall by language, its explanations, and its bounded cost.

The labelled prompts are in `intent_prompts/`. The columns are language, label (`run` or `text`), flag (`data`, `before`
or `-`) and the text with `\\n` and `\\t` escaped. The rules must not be tuned on `held_out.tsv` and `blind.tsv`, so the
tests print only figures for them and no prompts. Wrong decisions on `tuning.tsv` are printed with their prompt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.emulator.demo_prompts import PROMPTS as DEMO_PROMPTS
from chat.prompt.intent import UNSURE_POINTS, WANTED_POINTS, Decision, decide
from chat.prompt.intent.facts import extract_facts
from chat.prompt.intent.lexicon import HEAD_CHARS, INDEX, KEY_CHARS, SUFFIX_ENTRIES, TAIL_CHARS, extract_window
from chat.prompt.intent.rules import RULES
from chat.prompt.intent.words import WORDS
from tests.conftest import Shown

PROMPTS_FOLDER = Path(__file__).parent / "intent_prompts"
LANGUAGES = ("en", "de", "zh")
FLAGS = {"-", "data", "before"}
SETS = ("tuning", "held_out", "blind")
MINIMUM_BY_LANGUAGE = 0.95
"""Minimum precision and recall of each language, on all sets together."""
MINIMUM_NOT_TUNED = 0.95
"""Minimum precision and recall of all languages together, on the sets that the rules were not tuned on."""
EXPLANATION_LIMIT_CHARS = 120


@dataclass(frozen=True, slots=True)
class Prompt:
    """One labelled prompt."""

    language: str
    is_wanted: bool
    flag: str
    text: str

    def decide(self) -> Decision:
        """Return the decision on this prompt."""
        return decide(self.text, has_data=self.flag == "data", ran_code_before=self.flag == "before")


def load_prompts(name: str) -> Iterator[Prompt]:
    """Yield the prompts of one of `SETS`."""
    for line in (PROMPTS_FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        language, label, flag, text = line.split("\t", 3)
        yield Prompt(
            language, {"run": True, "text": False}[label], flag, text.replace("\\n", "\n").replace("\\t", "\t")
        )


def precision_and_recall(*sets: str) -> dict[str, tuple[float, float]]:
    """Return (precision, recall) by language and for `all`, over the prompts of these sets."""
    counts: Counter[tuple[str, bool, bool]] = Counter()
    for prompt in (prompt for name in sets for prompt in load_prompts(name)):
        for name in (prompt.language, "all"):
            counts[name, prompt.is_wanted, prompt.decide().is_wanted] += 1
    figures = {}
    for name in (*LANGUAGES, "all"):
        cases = ((True, True), (True, False), (False, True))
        true_positives, false_negatives, false_positives = (counts[name, *case] for case in cases)
        precision = true_positives / (true_positives + false_positives)
        recall = true_positives / (true_positives + false_negatives)
        figures[name] = (precision, recall)
    return figures


def sum_points(text: str, *, has_data: bool = False, ran_code_before: bool = False) -> int:
    """Return the sum of the points of all rules that apply to the text."""
    facts = extract_facts(text, has_data=has_data, ran_code_before=ran_code_before)
    return sum(rule.points for rule in RULES if rule.condition(facts))


def show(title: str, figures: dict[str, tuple[float, float]], shown: Shown) -> None:
    """Print the figures at the end of the test run."""
    shown(f"intent, {title}:")
    for name, (precision, recall) in figures.items():
        shown(f"  {name:<4} precision {precision:.3f}  recall {recall:.3f}")


def test_labelled_sets_are_large_and_balanced_in_every_language() -> None:
    prompts = {name: list(load_prompts(name)) for name in SETS}
    texts = [(prompt.text, prompt.flag) for name in SETS for prompt in prompts[name]]
    assert len(texts) == len(set(texts))
    for name, minimum in zip(SETS, (100, 60, 35), strict=True):
        flags = {prompt.flag for prompt in prompts[name]}
        assert flags == FLAGS
        for language in LANGUAGES:
            labels = [prompt.is_wanted for prompt in prompts[name] if prompt.language == language]
            assert len(labels) >= minimum
            assert 0.45 <= sum(labels) / len(labels) <= 0.55


def test_tuning_set_is_decided_correctly_in_every_language(shown: Shown) -> None:
    figures = precision_and_recall("tuning")
    show("tuning", figures, shown)
    failures = [prompt for prompt in load_prompts("tuning") if prompt.decide().is_wanted != prompt.is_wanted]
    for precision, recall in figures.values():
        assert precision >= 0.97, failures
        assert recall >= 0.97, failures


def test_sets_without_tuning_are_decided_correctly(shown: Shown) -> None:
    for name in ("held_out", "blind"):
        show(name.replace("_", "-"), precision_and_recall(name), shown)
    not_tuned = precision_and_recall("held_out", "blind")
    show("held-out and blind", not_tuned, shown)
    all_sets = precision_and_recall(*SETS)
    show("all sets", all_sets, shown)
    precision, recall = not_tuned["all"]
    assert precision >= MINIMUM_NOT_TUNED
    assert recall >= MINIMUM_NOT_TUNED
    for language in LANGUAGES:
        assert min(all_sets[language]) >= MINIMUM_BY_LANGUAGE, language


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_every_demo_prompt_runs_code(language: str) -> None:
    examples = [(entry.texts[language].example, entry.needs_table) for entry in DEMO_PROMPTS if language in entry.texts]
    assert examples
    failures = [example for example, has_data in examples if not decide(example, has_data=has_data).is_wanted]
    assert not failures


FENCED_PYTHON = "```python\nprint(1)\n```"


@pytest.mark.parametrize(
    ("text", "has_data"),
    [
        ("First 50 primes", False),
        ("Draw a histogram of 1000 random numbers", False),
        ("Show me something random", False),
        ("Describe the attached CSV", True),
        ("what stands out?", True),
        ("was fällt auf", True),
        ("Fit a line to noisy points", False),
        ("Hi, plot a normal distribution please", False),
        ("solve a quadratic", False),
        ("画一个正弦波", False),
        ("用python画一个爱心", False),
    ],
)
def test_short_requests_run_code(text: str, has_data: bool) -> None:
    assert decide(text, has_data=has_data).is_wanted
    assert decide(text.lower(), has_data=has_data).is_wanted


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}\nplease",
        "Run this:\n{}",
        "{}\nexecute",
        "what does this print?\n{}",
        "Führe aus:\n{}",
        "运行\n{}",
        "```\nprint(1)\n```",
        "```python\nprint(1)",
    ],
)
def test_fenced_python_alone_or_with_a_request_to_run_it_runs(text: str) -> None:
    assert decide(text.format(FENCED_PYTHON)).is_wanted
    assert decide(text.format(f"```python\n{'total = 1  # explain, translate' * 300}\n```")).is_wanted


@pytest.mark.parametrize(
    "text",
    [
        "explain this\n{}",
        "review this:\n{}",
        "translate this to Rust\n{}",
        "make this faster\n{}",
        "why doesn't this run?\n{}",
        "don't run this, just explain\n{}",
        "Was macht dieser Code?\n{}",
        "给代码加注释\n{}",
        "```js\nconsole.log(1)\n```",
    ],
)
def test_code_that_is_requested_as_text_does_not_run(text: str) -> None:
    assert not decide(text.format(FENCED_PYTHON)).is_wanted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("3x + 5 = 20, what is x?", "has an equation or formula"),
        ("Which is cheaper, 3 kg for 7.20 or 5 kg for 11?", "compares several quantities"),
        ("Histogram der Körpergrößen bitte", "asks for a graph"),
        ("你现在是一名船长，船上有40个人", "but is role play"),
        ("Translate: we sold 40 units at 3 euros each", "but asks for a translation"),
        ("", "nothing to calculate"),
    ],
)
def test_decision_names_its_reasons(text: str, reason: str) -> None:
    assert reason in decide(text).reasons


@pytest.mark.parametrize(
    ("text", "explanation"),
    [
        ("Plot 3, 4, 8", "The question asks for a graph and has a list of numbers."),
        ("Plot a sine wave", "The question asks for a graph."),
        ("你好", "It is small talk, so running code would not help."),
        ("Translate: we sold 40 units", "It asks for a translation, so running code would not help."),
        (
            "12 chairs and 3 lamps in the room upstairs",
            "It has several numbers, but that alone calls for no calculation.",
        ),
        ("", "Nothing here is to be calculated."),
    ],
)
def test_decision_is_explained_in_one_sentence(text: str, explanation: str) -> None:
    assert decide(text).explanation == explanation


def test_every_explanation_is_one_short_sentence() -> None:
    longest_reasons = sorted((rule.reason for rule in RULES), key=len)[-2:]
    for is_wanted in (True, False):
        for reasons in (tuple(longest_reasons), *((rule.reason,) for rule in RULES)):
            if is_wanted and reasons[0].startswith("but "):
                continue
            explanation = Decision(is_wanted=is_wanted, score=0.5, reasons=reasons).explanation
            assert len(explanation) <= EXPLANATION_LIMIT_CHARS
            assert explanation.count(".") == 1
            assert explanation.endswith(".")


def test_data_and_earlier_code_change_the_decision() -> None:
    assert not decide("Which region sells best?").is_wanted
    assert decide("Which region sells best?", has_data=True).is_wanted
    assert not decide("now in blue").is_wanted
    assert decide("now in blue", ran_code_before=True).is_wanted
    for text in ("thanks!", "translate that", "danke dir", "翻译成英文"):
        assert not decide(text, ran_code_before=True).is_wanted


def test_unsure_text_runs_code_only_if_computable_and_without_negative_rules() -> None:
    assert decide("12 rows with 40 chairs, how many").reasons[-1].startswith("unsure, there is something")
    for prompt in load_prompts("tuning"):
        decision = prompt.decide()
        points = sum_points(prompt.text, has_data=prompt.flag == "data", ran_code_before=prompt.flag == "before")
        assert (decision.score >= 0.5) == (points >= WANTED_POINTS)
        if points >= WANTED_POINTS:
            assert decision.is_wanted
        elif points < WANTED_POINTS - UNSURE_POINTS:
            assert not decision.is_wanted
        elif decision.is_wanted:
            assert not any(reason.startswith("but ") for reason in decision.reasons)


@settings(max_examples=200, deadline=None)
@given(
    text=st.text() | st.text(alphabet="0123456789 .,-+*/=^%()[]{}|;:\n\t²€第年月的算画x", max_size=400),
    has_data=st.booleans(),
    ran_code_before=st.booleans(),
)
def test_any_text_gives_an_explained_decision(text: str, has_data: bool, ran_code_before: bool) -> None:
    decision = decide(text, has_data=has_data, ran_code_before=ran_code_before)
    assert decision == decide(text, has_data=has_data, ran_code_before=ran_code_before)
    assert 0 <= decision.score <= 1
    assert decision.reasons
    assert decision.explanation.endswith(".")
    assert len(decision.explanation) <= EXPLANATION_LIMIT_CHARS
    assert len(set(decision.reasons)) == len(decision.reasons)


HOSTILE_UNITS = (
    "1",
    " ",
    "1 ",
    "1+",
    "1,",
    "(1,",
    "1.1.",
    "= ",
    "x = ",
    "a{b:",
    "[[",
    "<a",
    "select ",
    "０",
    "İ",
    "为",
    "\n1;",
    "1 km in ",
    "0 ",
    "```",
    "```py\n",
    "how many ",
    "|x-",
    '"a',
    "请",
    "please ",
)


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_only_head_and_tail_of_a_huge_text_are_examined(unit: str) -> None:
    huge = unit * (256 * 1024 // len(unit))
    window = extract_window(huge)
    assert len(window) <= 2 * (HEAD_CHARS + TAIL_CHARS + 1)  # lower case may need a second code point
    other_middle = f"{huge[:HEAD_CHARS]}{'middle' * 1000}{huge[-TAIL_CHARS:]}"
    assert extract_window(other_middle) == window
    assert decide(other_middle) == decide(huge)


def test_request_before_or_after_a_long_paste_is_recognized() -> None:
    paste = "The committee met again and talked about the garden.\n" * 400
    assert decide(f"Plot y = x^2 from -3 to 3.\n{paste}").is_wanted
    assert decide(f"{paste}\nPlot y = x^2 from -3 to 3.").is_wanted
    assert not decide(f"Summarise this:\n{paste}").is_wanted


def test_every_needle_is_long_enough_for_the_index_and_normalized() -> None:
    needles = {needle for entries in INDEX.values() for needle, _ in entries} | {needle for needle, _ in SUFFIX_ENTRIES}
    assert all(len(needle) >= KEY_CHARS for needle in needles if needle.startswith(" "))
    assert all(needle.strip() and needle == needle.lower() for needle in needles)
    for words in WORDS.values():
        assert not any(umlaut in words for umlaut in "äöüß")
