"""The decision on code execution: how often it is right, by language; that it explains itself; that it stays bounded.

The labelled sets lie in `intent_prompts/`: language, label (`run` or `text`), flags (`data`, `before` or `-`) and the
text with `\\n` and `\\t` escaped. `held_out.tsv` and `blind.tsv` are never tuned on: of them only figures
are printed, and no prompt. Failures of `tuning.tsv` are shown, to be learnt from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.emulator.demo_prompts import PROMPTS as DEMO
from chat.intent import SURE_POINTS, UNSURE_POINTS, Decision, decide
from chat.intent.facts import facts_of
from chat.intent.lexicon import HEAD_CHARS, INDEX, KEY_CHARS, OPEN_START, TAIL_CHARS, window
from chat.intent.rules import RULES
from chat.intent.words import WORDS
from tests.conftest import Shown

PROMPTS = Path(__file__).parent / "intent_prompts"
LANGUAGES = ("en", "de", "zh")
FLAGS = {"-", "data", "before"}
SETS = ("tuning", "held_out", "blind")
LEAST = 0.95
"""Precision and recall by language on all sets together."""
LEAST_UNSEEN = {"precision": 0.95, "recall": 0.95}
"""On what the function was not tuned on, all languages together."""
LONGEST_SENTENCE = 120


@dataclass(frozen=True, slots=True)
class Prompt:
    """One labelled prompt."""

    language: str
    is_wanted: bool
    flag: str
    text: str

    def decision(self) -> Decision:
        """What the function says of it."""
        return decide(self.text, has_data=self.flag == "data", ran_code_before=self.flag == "before")


def prompts_of(name: str) -> Iterator[Prompt]:
    """The prompts of one of `SETS`."""
    for line in (PROMPTS / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        language, label, flag, text = line.split("\t", 3)
        yield Prompt(
            language, {"run": True, "text": False}[label], flag, text.replace("\\n", "\n").replace("\\t", "\t")
        )


def precision_and_recall(*sets: str) -> dict[str, tuple[float, float]]:
    """(precision, recall) by language and for `all`, over the prompts of all named sets."""
    counts: Counter[tuple[str, bool, bool]] = Counter()
    for prompt in (prompt for name in sets for prompt in prompts_of(name)):
        for name in (prompt.language, "all"):
            counts[name, prompt.is_wanted, prompt.decision().wanted] += 1
    measured = {}
    for name in (*LANGUAGES, "all"):
        right, missed, wrong = (counts[name, *case] for case in ((True, True), (True, False), (False, True)))
        measured[name] = (right / (right + wrong), right / (right + missed))
    return measured


def points_of(text: str, *, has_data: bool = False, ran_code_before: bool = False) -> int:
    """The sum that the rule in the module's docstring speaks of."""
    facts = facts_of(text, has_data=has_data, ran_code_before=ran_code_before)
    return sum(rule.points for rule in RULES if rule.holds(facts))


def show(title: str, measured: dict[str, tuple[float, float]], shown: Shown) -> None:
    """Let the table stand at the run's end: it is what the run is read for."""
    shown(f"intent, {title}:")
    for name, (precision, recall) in measured.items():
        shown(f"  {name:<4} precision {precision:.3f}  recall {recall:.3f}")


def test_labelled_sets_are_large_and_balanced_in_every_language() -> None:
    prompts = {name: list(prompts_of(name)) for name in SETS}
    texts = [(prompt.text, prompt.flag) for name in SETS for prompt in prompts[name]]
    total, different = len(texts), len(set(texts))
    assert total == different
    for name, least in zip(SETS, (100, 60, 35), strict=True):
        flags = {prompt.flag for prompt in prompts[name]}
        assert flags == FLAGS
        for language in LANGUAGES:
            wanted = [prompt.is_wanted for prompt in prompts[name] if prompt.language == language]
            assert len(wanted) >= least
            assert 0.45 <= sum(wanted) / len(wanted) <= 0.55


def test_tuning_set_is_decided_right_in_every_language(shown: Shown) -> None:
    measured = precision_and_recall("tuning")
    show("tuning", measured, shown)
    wrong = [prompt for prompt in prompts_of("tuning") if prompt.decision().wanted != prompt.is_wanted]
    for precision, recall in measured.values():
        assert precision >= 0.97, wrong
        assert recall >= 0.97, wrong


def test_prompts_that_were_not_tuned_on_are_decided_right_too(shown: Shown) -> None:
    for name in ("held_out", "blind"):
        show(name.replace("_", "-"), precision_and_recall(name), shown)
    unseen = precision_and_recall("held_out", "blind")
    show("held-out and blind", unseen, shown)
    everything = precision_and_recall(*SETS)
    show("all sets", everything, shown)
    precision, recall = unseen["all"]
    assert precision >= LEAST_UNSEEN["precision"]
    assert recall >= LEAST_UNSEEN["recall"]
    for language in LANGUAGES:
        assert min(everything[language]) >= LEAST, language


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_every_example_of_the_demo_runs_code(language: str) -> None:
    examples = [(entry.words[language].example, entry.needs_table) for entry in DEMO if language in entry.words]
    assert examples
    refused = [example for example, has_data in examples if not decide(example, has_data=has_data).wanted]
    assert not refused


FENCED = "```python\nprint(1)\n```"


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
def test_short_orders_run_code(text: str, has_data: bool) -> None:
    assert decide(text, has_data=has_data).wanted
    assert decide(text.lower(), has_data=has_data).wanted


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
def test_python_that_comes_alone_or_is_to_be_run_runs(text: str) -> None:
    assert decide(text.format(FENCED)).wanted
    assert decide(text.format(f"```python\n{'total = 1  # explain, translate' * 300}\n```")).wanted


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
def test_code_that_is_wanted_as_text_does_not_run(text: str) -> None:
    assert not decide(text.format(FENCED)).wanted


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
    ("text", "why"),
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
def test_decision_has_a_sentence_for_a_person(text: str, why: str) -> None:
    assert decide(text).why == why


def test_every_sentence_is_one_and_short() -> None:
    longest = sorted((rule.reason for rule in RULES), key=len)[-2:]
    for wanted in (True, False):
        for reasons in (tuple(longest), *((rule.reason,) for rule in RULES)):
            if wanted and reasons[0].startswith("but "):
                continue
            why = Decision(wanted=wanted, score=0.5, reasons=reasons).why
            assert len(why) <= LONGEST_SENTENCE
            assert why.count(".") == 1
            assert why.endswith(".")


def test_what_stands_around_a_message_changes_the_decision() -> None:
    assert not decide("Which region sells best?").wanted
    assert decide("Which region sells best?", has_data=True).wanted
    assert not decide("now in blue").wanted
    assert decide("now in blue", ran_code_before=True).wanted
    for text in ("thanks!", "translate that", "danke dir", "翻译成英文"):
        assert not decide(text, ran_code_before=True).wanted


def test_unsure_text_is_wanted_only_with_something_to_compute_on_and_nothing_against_it() -> None:
    assert decide("12 rows with 40 chairs, how many").reasons[-1].startswith("unsure, there is something")
    for prompt in prompts_of("tuning"):
        decision = prompt.decision()
        points = points_of(prompt.text, has_data=prompt.flag == "data", ran_code_before=prompt.flag == "before")
        assert (decision.score >= 0.5) == (points >= SURE_POINTS)
        if points >= SURE_POINTS:
            assert decision.wanted
        elif points < SURE_POINTS - UNSURE_POINTS:
            assert not decision.wanted
        elif decision.wanted:
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
    assert decision.why.endswith(".")
    assert len(decision.why) <= LONGEST_SENTENCE
    assert len(set(decision.reasons)) == len(decision.reasons)


HOSTILE = (
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


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_huge_text_costs_no_more_than_its_head_and_tail(unit: str) -> None:
    huge = unit * (256 * 1024 // len(unit))
    looked_at = window(huge)
    assert len(looked_at) <= 2 * (HEAD_CHARS + TAIL_CHARS + 1)  # lower case may need a second code point
    kept = f"{huge[:HEAD_CHARS]}{'middle' * 1000}{huge[-TAIL_CHARS:]}"
    assert window(kept) == looked_at
    assert decide(kept) == decide(huge)


def test_request_is_found_before_and_after_a_long_paste() -> None:
    paste = "The committee met again and talked about the garden.\n" * 400
    assert decide(f"Plot y = x^2 from -3 to 3.\n{paste}").wanted
    assert decide(f"{paste}\nPlot y = x^2 from -3 to 3.").wanted
    assert not decide(f"Summarise this:\n{paste}").wanted


def test_every_word_can_be_found_by_the_index() -> None:
    needles = {needle for entries in INDEX.values() for needle, _ in entries} | {needle for needle, _ in OPEN_START}
    assert all(len(needle) >= KEY_CHARS for needle in needles if needle.startswith(" "))
    assert all(needle.strip() and needle == needle.lower() for needle in needles)
    for words in WORDS.values():
        assert not any(umlaut in words for umlaut in "äöüß")
