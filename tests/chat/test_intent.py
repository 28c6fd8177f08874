"""The decision on code execution: how often it is right, by language; that it explains itself; that it stays bounded.

The labelled set lies in `intent_prompts/`: language, label (`run` or `text`), flags (`data`, `before` or `-`) and the
text with `\\n` and `\\t` escaped. `held_out.tsv` was written before the function and is never used to tune it: its
test prints totals and no prompt. Failures of `tuning.tsv` are shown, to be learnt from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.intent import RULES, SURE_POINTS, UNSURE_POINTS, Decision, decide
from chat.intent.facts import HEAD_CHARS, INDEX, KEY_CHARS, OPEN_START, TAIL_CHARS, facts_of, window
from chat.intent.words import WORDS

PROMPTS = Path(__file__).parent / "intent_prompts"
LANGUAGES = ("en", "de", "zh")
FLAGS = {"-", "data", "before"}
HELD_OUT_FLOORS = {"en": (0.96, 0.90), "de": (1.0, 0.96), "zh": (1.0, 1.0), "all": (0.98, 0.95)}
"""(precision, recall) as measured, cut to two digits: a change may not make them worse."""


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


def prompts_of(half: str) -> Iterator[Prompt]:
    """The prompts of one half, `tuning` or `held_out`."""
    for line in (PROMPTS / f"{half}.tsv").read_text(encoding="utf-8").splitlines():
        language, label, flag, text = line.split("\t", 3)
        yield Prompt(
            language, {"run": True, "text": False}[label], flag, text.replace("\\n", "\n").replace("\\t", "\t")
        )


def precision_and_recall(half: str) -> dict[str, tuple[float, float]]:
    """(precision, recall) by language and for `all`."""
    counts: Counter[tuple[str, bool, bool]] = Counter()
    for prompt in prompts_of(half):
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


def show(half: str, measured: dict[str, tuple[float, float]], capsys: pytest.CaptureFixture[str]) -> None:
    """Print the table past pytest's capture: it is what the run is read for."""
    with capsys.disabled():
        print(f"\nintent, {half.replace('_', '-')} half:")
        for name, (precision, recall) in measured.items():
            print(f"  {name:<4} precision {precision:.3f}  recall {recall:.3f}")


def test_labelled_set_is_large_and_balanced_in_every_language() -> None:
    halves = {half: list(prompts_of(half)) for half in ("tuning", "held_out")}
    texts = [prompt.text for half in halves.values() for prompt in half]
    assert len(texts) == len(set(texts)) >= 360
    for half in halves.values():
        assert {prompt.flag for prompt in half} == FLAGS
        for language in LANGUAGES:
            wanted = [prompt.is_wanted for prompt in half if prompt.language == language]
            assert len(wanted) >= 60
            assert 0.45 <= sum(wanted) / len(wanted) <= 0.55


def test_tuning_half_is_decided_right(capsys: pytest.CaptureFixture[str]) -> None:
    measured = precision_and_recall("tuning")
    show("tuning", measured, capsys)
    wrong = [prompt for prompt in prompts_of("tuning") if prompt.decision().wanted != prompt.is_wanted]
    precision, recall = measured["all"]
    assert precision >= 0.95, wrong
    assert recall >= 0.95, wrong


def test_held_out_half_is_decided_as_well_as_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    measured = precision_and_recall("held_out")
    show("held_out", measured, capsys)
    for name, (least_precision, least_recall) in HELD_OUT_FLOORS.items():
        precision, recall = measured[name]
        assert precision >= least_precision, name
        assert recall >= least_recall, name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("3x + 5 = 20, what is x?", "an equation or formula"),
        ("Which is cheaper, 3 kg for 7.20 or 5 kg for 11?", "several quantities are compared"),
        ("Histogram der Körpergrößen bitte", "asks for a graph"),
        ("你现在是一名船长，船上有40个人", "but is role play"),
        ("Translate: we sold 40 units at 3 euros each", "but asks for a translation"),
        ("", "nothing to calculate"),
    ],
)
def test_decision_says_why(text: str, reason: str) -> None:
    assert reason in decide(text).reasons


def test_what_stands_around_a_message_changes_the_decision() -> None:
    assert not decide("Which region sells best?").wanted
    assert decide("Which region sells best?", has_data=True).wanted
    assert not decide("now in blue").wanted
    assert decide("now in blue", ran_code_before=True).wanted
    for text in ("thanks!", "translate that", "danke dir", "翻译成英文"):
        assert not decide(text, ran_code_before=True).wanted


def test_unsure_text_is_wanted_only_with_something_to_compute_on_and_nothing_against_it() -> None:
    assert decide("12 rows with 40 chairs, how many").reasons[-1].startswith("unsure, there is something")
    for prompt in (*prompts_of("tuning"), *prompts_of("held_out")):
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
