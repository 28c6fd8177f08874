"""The decision on code execution: its precision and recall by language, its explanations, and its bounded cost.

The labelled prompts for these tests are in `intent_prompts/`; their columns are language, label (`run` or `text`), flag
(`data`, `before` or `-`) and the text with `\\n` and `\\t` escaped. Neither rules nor training may be tuned on them, so
the tests print only figures for them and no prompts.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.answering.prompt.intent import CodePrediction, classifier, predict_code, training
from chat.answering.prompt.intent.classifier import BIAS, WEIGHTS_FILE, load_weights
from chat.answering.prompt.intent.lexicon import (
    HEAD_CHARS,
    INDEX,
    KEY_CHARS,
    SUFFIX_ENTRIES,
    TAIL_CHARS,
    extract_window,
)
from chat.answering.prompt.intent.ngrams import find_ngrams
from chat.answering.prompt.intent.rules import RULES
from chat.answering.prompt.intent.training import Prompt, load_prompts
from chat.answering.prompt.intent.words import WORDS
from chat.emulator.demo.language import TEXTS
from tests.conftest import Shown
from tests.environment import ROOT

PROMPTS_FOLDER = Path(__file__).parent / "intent_prompts"
LANGUAGES = ("en", "de", "zh", "fr", "es", "ja")
FLAGS = {"-", "data", "before"}
QUANTITIES = "quantities"
"""The set of prompts that ask for a quantity that must be computed, also inside a text to be written."""
SETS = ("held_out", "blind", "six_languages", "newest", QUANTITIES)
MINIMUM_PROMPTS = 100
MINIMUM_TRAINING_PROMPTS = 600
MINIMUM_PRECISION = 0.93
MINIMUM_RECALL = 0.90
MINIMUM_RECALL_OF_RULES = 0.80
EXPLANATION_LIMIT_CHARS = 120


def load_held_out(name: str) -> Iterator[tuple[str, Prompt]]:
    """Yield (language, prompt) for the prompts of one of `SETS`."""
    for line in (PROMPTS_FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        language, _, rest = line.partition("\t")
        yield language, next(load_prompts([rest]))


def predict_prompt(prompt: Prompt) -> CodePrediction:
    """Return the decision on a labelled prompt."""
    return predict_code(prompt.text, has_data=prompt.flag == "data", ran_code_before=prompt.flag == "before")


def precision_and_recall(*sets: str) -> dict[str, tuple[float, float]]:
    """Return (precision, recall) by language, over the prompts of these sets."""
    counts = Counter(
        (language, prompt.is_wanted, predict_prompt(prompt).is_wanted)
        for name in sets
        for language, prompt in load_held_out(name)
    )
    figures = {}
    for language in LANGUAGES:
        cases = ((True, True), (True, False), (False, True))
        true_positives, false_negatives, false_positives = (counts[language, *case] for case in cases)
        precision = true_positives / (true_positives + false_positives)
        recall = true_positives / (true_positives + false_negatives)
        figures[language] = (precision, recall)
    return figures


def show(title: str, figures: Mapping[str, tuple[float, float]], shown: Shown) -> None:
    """Print the figures at the end of the test run."""
    shown(f"intent, {title}:")
    for name, (precision, recall) in figures.items():
        shown(f"  {name:<4} precision {precision:.3f}  recall {recall:.3f}")


def test_each_language_has_enough_held_out_prompts_for_running_and_not_running_code() -> None:
    prompts = [(language, prompt) for name in SETS for language, prompt in load_held_out(name)]
    assert len(prompts) == len({(prompt.text, prompt.flag) for _, prompt in prompts})
    for language in LANGUAGES:
        own = [prompt for prompt_language, prompt in prompts if prompt_language == language]
        assert len(own) >= MINIMUM_PROMPTS
        assert {prompt.flag for prompt in own} == FLAGS
        assert 0.45 <= sum(prompt.is_wanted for prompt in own) / len(own) <= 0.55


def test_each_language_has_enough_training_prompts_and_none_is_held_out() -> None:
    held_out = {(prompt.text.lower(), prompt.flag) for name in SETS for _, prompt in load_held_out(name)}
    for path in training.prompt_files():
        prompts = list(load_prompts(path.read_text(encoding="utf-8").splitlines()))
        assert len(prompts) >= MINIMUM_TRAINING_PROMPTS, path.name
        assert {prompt.flag for prompt in prompts} == FLAGS
        assert not held_out & {(prompt.text.lower(), prompt.flag) for prompt in prompts}, path.name
    assert {path.stem for path in training.prompt_files()} == set(LANGUAGES)


def test_held_out_prompts_reach_the_minimum_precision_and_recall_in_every_language(shown: Shown) -> None:
    figures = precision_and_recall(*SETS)
    show("held-out prompts", figures, shown)
    for language, (precision, recall) in figures.items():
        assert precision >= MINIMUM_PRECISION, language
        assert recall >= MINIMUM_RECALL, language


def test_weights_file_is_newer_than_the_files_that_it_is_made_from() -> None:
    weights = str(WEIGHTS_FILE.relative_to(ROOT))

    def is_current(*changed: str) -> bool:
        options = [option for path in changed for option in ("--what-if", path)]
        return subprocess.run(["make", "--question", *options, weights], cwd=ROOT).returncode == 0

    assert is_current(), f"run make {weights}"
    folder = Path(weights).parent
    sources = ("prompts/ja.tsv", "words/measures.py", "ngrams.py", "training.py")
    assert not any(is_current(f"{folder}/{source}") for source in sources)
    assert BIAS in load_weights()


def test_prompts_that_ask_for_a_quantity_run_code() -> None:
    prompts = [(language, prompt) for language, prompt in load_held_out(QUANTITIES)]
    assert Counter(language for language, _ in prompts) == dict.fromkeys(LANGUAGES, 10)
    assert all(predict_prompt(prompt).is_wanted for _, prompt in prompts)


@pytest.mark.parametrize(
    "text",
    [
        "Translate this table into German",
        "thanks!",
        "Write an essay about data protection",
        "Schreib ein Gedicht über den Herbst",
        "你好",
        "このレポートを英語に訳して",
    ],
)
def test_prompts_that_ask_for_something_else_get_no_code_although_a_table_is_attached(text: str) -> None:
    assert not predict_code(text, has_table=True).is_wanted


@pytest.mark.parametrize("text", ["Write something about this file", "was sagt das aus?", "这是什么", "Et alors ?"])
def test_prompt_with_an_attached_table_may_run_code(text: str) -> None:
    assert predict_code(text, has_table=True).is_wanted


def test_rules_alone_reach_a_minimum_recall_if_no_weights_file_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Shown
) -> None:
    monkeypatch.setattr(classifier, "WEIGHTS_FILE", tmp_path / "weights.tsv")
    monkeypatch.setattr(classifier, "load_weights", load_weights.__wrapped__)
    figures = precision_and_recall(*SETS)
    show("held-out prompts, rules alone", figures, shown)
    for precision, recall in (figures[language] for language in ("en", "de", "zh")):
        assert precision >= MINIMUM_PRECISION
        assert recall >= MINIMUM_RECALL_OF_RULES
    assert predict_code("Plot a sine wave").explanation == "The question asks for a graph."


def test_training_separates_the_two_labels_and_is_deterministic() -> None:
    lines = [f"run\t-\tblorp the {word}" for word in "abcdefgh"] + [f"text\t-\tquux the {word}" for word in "abcdefgh"]
    prompts = list(load_prompts(lines))
    weights = training.train(prompts)
    assert weights == training.train(prompts)
    assert weights[" blorp "] > 0 > weights[" quux "]
    assert "^ blorp" in weights
    assert "blorp the a" not in weights


def test_written_weights_are_read_back_rounded_and_without_tiny_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "WEIGHTS_FILE", tmp_path / "weights.tsv")
    training.write_weights({"[bias]": -0.5, " word ": 1.254, "tiny": 0.049})
    monkeypatch.setattr(classifier, "WEIGHTS_FILE", tmp_path / "weights.tsv")
    assert load_weights.__wrapped__() == {"[bias]": -0.5, " word ": 1.3}


def test_prompts_in_languages_without_word_lists_are_classified_by_trained_weights() -> None:
    for text, is_wanted in (
        ("Quelle est la probabilité d'avoir au moins un as ?", True),
        ("Écris un poème sur l'as de pique", False),
        ("サイコロの目の和が7になる確率を求めて", True),
        ("サイコロについての詩を書いて", False),
        ("¿Cuánto es el 15 % de 80?", True),
        ("Traduce «el 15 % de descuento»", False),
    ):
        assert predict_code(text).is_wanted is is_wanted, text


def test_explanation_quotes_the_decisive_word_if_no_rule_applies() -> None:
    prediction = predict_code("Traduis ce texte")
    assert prediction.reasons[0] == "but says “traduis”"
    assert prediction.explanation == "It says “traduis”, so running code would not help."
    assert "poème" in predict_code("Écris un poème").explanation  # as it was typed
    long_word = predict_code("é" * 200 + " poème").explanation
    assert len(long_word) <= EXPLANATION_LIMIT_CHARS


def test_prompts_with_and_without_accents_have_the_same_prediction() -> None:
    assert find_ngrams("écrire un poème", []) == find_ngrams("ecrire un poeme", [])


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_every_demo_prompt_runs_code(language: str) -> None:
    examples = [(example, False) for example in TEXTS["examples"][language]]
    examples += [(example, True) for example in TEXTS["examples"][f"table_{language}"]]
    failures = [example for example, has_data in examples if not predict_code(example, has_data=has_data).is_wanted]
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
def test_short_requests_for_graphs_or_calculations_run_code(text: str, has_data: bool) -> None:
    assert predict_code(text, has_data=has_data).is_wanted
    assert predict_code(text.lower(), has_data=has_data).is_wanted


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
def test_fenced_python_runs_if_it_is_alone_or_with_a_request_to_run_it(text: str) -> None:
    assert predict_code(text.format(FENCED_PYTHON)).is_wanted
    assert predict_code(text.format(f"```python\n{'total = 1  # explain, translate' * 300}\n```")).is_wanted


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
def test_code_does_not_run_if_the_user_asks_to_see_it(text: str) -> None:
    assert not predict_code(text.format(FENCED_PYTHON)).is_wanted


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
def test_prediction_contains_the_reason_that_decided_it(text: str, reason: str) -> None:
    assert reason in predict_code(text).reasons


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
    assert predict_code(text).explanation == explanation


def test_every_explanation_is_one_short_sentence() -> None:
    longest_reasons = sorted((rule.reason for rule in RULES), key=len)[-2:]
    for is_wanted in (True, False):
        for reasons in (tuple(longest_reasons), *((rule.reason,) for rule in RULES)):
            if is_wanted and reasons[0].startswith("but "):
                continue
            explanation = CodePrediction(is_wanted=is_wanted, reasons=reasons).explanation
            assert len(explanation) <= EXPLANATION_LIMIT_CHARS
            assert explanation.count(".") == 1
            assert explanation.endswith(".")


def test_attached_data_or_earlier_code_can_make_the_prediction_that_code_runs() -> None:
    assert not predict_code("Which region sells best?").is_wanted
    assert predict_code("Which region sells best?", has_data=True).is_wanted
    assert not predict_code("now in blue").is_wanted
    assert predict_code("now in blue", ran_code_before=True).is_wanted
    for text in ("thanks!", "translate that", "danke dir", "翻译成英文"):
        assert not predict_code(text, ran_code_before=True).is_wanted


@settings(max_examples=200, deadline=None)
@given(
    text=st.text() | st.text(alphabet="0123456789 .,-+*/=^%()[]{}|;:\n\t²€第年月的算画x", max_size=400),
    has_data=st.booleans(),
    ran_code_before=st.booleans(),
)
def test_prediction_for_any_text_has_an_explanation(text: str, has_data: bool, ran_code_before: bool) -> None:
    prediction = predict_code(text, has_data=has_data, ran_code_before=ran_code_before)
    assert prediction == predict_code(text, has_data=has_data, ran_code_before=ran_code_before)
    assert prediction.reasons
    assert prediction.explanation.endswith(".")
    assert len(prediction.explanation) <= EXPLANATION_LIMIT_CHARS
    assert len(set(prediction.reasons)) == len(prediction.reasons)


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
def test_only_the_beginning_and_the_end_of_a_huge_text_are_examined(unit: str) -> None:
    huge = unit * (256 * 1024 // len(unit))
    window = extract_window(huge)
    assert len(window) <= 2 * (HEAD_CHARS + TAIL_CHARS + 1)  # lower case may need a second code point
    other_middle = f"{huge[:HEAD_CHARS]}{'middle' * 1000}{huge[-TAIL_CHARS:]}"
    assert extract_window(other_middle) == window
    assert predict_code(other_middle) == predict_code(huge)


def test_request_before_or_after_a_long_pasted_text_is_recognized() -> None:
    paste = "The committee met again and talked about the garden.\n" * 400
    assert predict_code(f"Plot y = x^2 from -3 to 3.\n{paste}").is_wanted
    assert predict_code(f"{paste}\nPlot y = x^2 from -3 to 3.").is_wanted
    assert not predict_code(f"Summarise this:\n{paste}").is_wanted


def test_each_search_word_of_the_rules_is_normalized_and_long_enough_for_the_index() -> None:
    needles = {needle for entries in INDEX.values() for needle, _ in entries} | {needle for needle, _ in SUFFIX_ENTRIES}
    assert all(len(needle) >= KEY_CHARS for needle in needles if needle.startswith(" "))
    assert all(needle.strip() and needle == needle.lower() for needle in needles)
    for words in WORDS.values():
        assert not any(umlaut in words for umlaut in "äöüß")
