"""What the demo model plans: right answers to newcomers' questions, follow-ups, and refusals of everything else."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from chat.emulator.attached_files import AttachedFile
from chat.emulator.code_runs import CodeRun
from chat.emulator.demo.language import TEXTS, Plan
from chat.emulator.demo.plan import plan_answer
from chat.python.kernels.outputs import ExecutionStatus
from tests.chat.emulator.demo.newcomer_prompts import NO_FILES, PROMPTS, SALES
from tests.chat.emulator.demo.run_programs import Result, run_programs

MISSING = "missing"


def plan(*prompts: str, files: Mapping[str, bytes] = NO_FILES, program: str = "", new: bool = True) -> Plan | str:
    """Return the plan for the last of these prompts."""
    attached = [AttachedFile(name, "text/csv", data, is_new=new) for name, data in files.items()]
    return plan_answer(prompts[::-1], program, attached)


def program_of(*prompts: str, files: Mapping[str, bytes] = NO_FILES) -> str:
    """Return the one program that is planned."""
    planned = plan(*prompts, files=files)
    assert isinstance(planned, Plan), planned
    return planned.program


def comment_of(planned: Plan, result: Result) -> str:
    """Return the text after the program."""
    run = CodeRun(ExecutionStatus.OK, result.text, "", 0, None)
    return run.comment(planned.comment, planned.remarks).strip()


def run(planned: Sequence[tuple[Mapping[str, bytes], Plan]], folder: Path) -> list[Result]:
    """Run the program of each plan."""
    return run_programs([(files, one.program) for files, one in planned], folder)


@pytest.mark.drill
def test_newcomers_get_right_answers_or_refusals(tmp_path: Path) -> None:
    answers = [(one, plan(one.prompt, files=one.files)) for one in PROMPTS]
    planned = [(one, answer) for one, answer in answers if isinstance(answer, Plan)]
    results = run([(one.files, answer) for one, answer in planned], tmp_path)
    verdicts = {one.prompt: "refused" for one, answer in answers if isinstance(answer, str)}
    for (one, answer), result in zip(planned, results, strict=True):
        is_right = not result.error and one.check is not None and one.check(result)
        assert not result.error, (one.prompt, result.error)
        verdicts[one.prompt] = f"right: {comment_of(answer, result)}" if is_right else f"WRONG: {result.text[-300:]}"
    if path := os.environ.get("PLOTLINE_NEWCOMER_TABLE"):
        lines = [f"| {one.prompt!r} | {verdicts[one.prompt]!r} |" for one in PROMPTS]
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert len(verdicts) == len(PROMPTS) == 50
    assert [prompt for prompt, verdict in verdicts.items() if verdict.startswith("WRONG")] == []
    assert [one.prompt for one in PROMPTS if one.check is None and verdicts[one.prompt] != "refused"] == []
    assert [one.prompt for one in PROMPTS if one.check is not None and verdicts[one.prompt] == "refused"] == []


@pytest.mark.drill
def test_every_example_is_answered_with_what_its_comment_quotes(tmp_path: Path) -> None:
    cases: list[tuple[Mapping[str, bytes], Plan]] = []
    for language in ("en", "de", "zh"):
        for example in TEXTS["examples"][language]:
            planned = plan(example)
            assert isinstance(planned, Plan), example
            cases.append((NO_FILES, planned))
        for example in TEXTS["examples"][f"table_{language}"]:
            planned = plan(example, files={"sales.csv": SALES})
            assert isinstance(planned, Plan), example
            cases.append(({"sales.csv": SALES}, planned))
    for (_, planned), result in zip(cases, run(cases, tmp_path), strict=True):
        assert not result.error, planned.program
        assert comment_of(planned, result)
        assert bool(result.figures) is ("plt.show()" in planned.program)


@pytest.mark.parametrize("prompt", ["Plot a sine wave", "Zeichne eine Sinuskurve", "画一条正弦曲线"])
def test_suggested_changes_of_a_curve_are_understood_and_differ_from_it(prompt: str) -> None:
    shown = plan(prompt)
    assert isinstance(shown, Plan)
    suggested = re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", shown.comment)
    assert len(suggested) == 2
    for change in suggested:
        changed = plan(prompt, change)
        assert isinstance(changed, Plan), change
        assert changed.program != shown.program, change


@pytest.mark.parametrize("prompt", ["Plot a sine wave", "First 50 primes", "Draw a histogram of 1000 random numbers"])
def test_buttons_of_the_empty_page_have_plans(prompt: str) -> None:
    assert isinstance(plan(prompt), Plan)


FOLLOW_UPS = [
    (["Plot a sine wave", "Make it a cosine"], ["np.cos(x)", "4 * np.pi"], ["np.sin"]),
    (["Plot a sine wave", "now from 0 to 10"], ["np.sin(x)", "linspace(0, 10"], []),
    (["Zeichne eine Sinuskurve", "Mach daraus einen Kosinus"], ["np.cos(x)"], ["np.sin"]),
    (["画一条正弦曲线", "改成余弦"], ["np.cos(x)"], ["np.sin"]),
    (["First 50 primes", "Continue"], ["isprime(k)), 50)"], []),
]


@pytest.mark.parametrize(("prompts", "present", "absent"), FOLLOW_UPS, ids=[one[0][-1] for one in FOLLOW_UPS])
def test_follow_up_changes_the_task_before(prompts: list[str], present: list[str], absent: list[str]) -> None:
    program = program_of(*prompts)
    assert [one for one in present if one not in program] == []
    assert [one for one in absent if one in program] == []


def test_button_below_the_last_graph_begins_a_follow_up() -> None:
    program = program_of("Plot a sine wave")
    changed = plan("Plot a sine wave", "Change the graph “sin(x)” (graph 1): Make it a cosine", program=program)
    assert isinstance(changed, Plan), changed
    assert "np.cos(x)" in changed.program
    untitled = plan("Plot a sine wave", "Change graph 1: now from 0 to 10", program=program)
    assert isinstance(untitled, Plan), untitled
    # The demo model cannot change any graph but the last.
    assert isinstance(
        plan("Plot a sine wave", "Change the graph “x^2” (graph 1): Make it a cosine", program=program), str
    )


def test_follow_up_of_a_list_or_a_table_is_refused() -> None:
    assert isinstance(plan("mean of 3, 5, 8", "Make it the median instead"), str)
    assert isinstance(plan("mean of 3, 5, 8", "as a bar chart instead"), str)
    assert isinstance(plan("mean price", "make it the median price instead", files={"sales.csv": SALES}), str)


@pytest.mark.parametrize("prompt", ["Make it a cosine", "as a bar chart instead", "again", "now from 0 to 10"])
def test_follow_up_of_nothing_is_refused(prompt: str) -> None:
    assert isinstance(plan(prompt), str)
    assert isinstance(plan("What is love?", prompt), str)


def test_last_program_runs_again_only_if_nothing_else_is_asked() -> None:
    for prompt in ("again", "Run it again", "Noch einmal, bitte", "再来一次"):
        planned = plan("First 50 primes", prompt, program="print(1)")
        assert isinstance(planned, Plan)
        assert planned.program == "print(1)"
    assert isinstance(plan("First 50 primes", "again, but tell me why", program="print(1)"), str)


def test_own_code_runs_unchanged() -> None:
    planned = plan("Was gibt das?\n```python\nprint('{x}')\n```")
    assert isinstance(planned, Plan)
    assert planned.program == "print('{x}')\n"
    assert planned.intro.startswith("Ich führe")
    assert planned.comment == ""


REFUSED = [
    "don't plot sin(x)",
    "mean of 3, 5, 8 minus 2",
    "mean of 3, 5, 8 in percent",
    "sum of 3 kg and 500 g",
    "sum of 10 primes and 5 cubes",
    "first 10 primes and first 5 cubes",
    "plot x^2 from 0 to 5 and x^3 from 2 to 4",
    "plot x^2 without the axis",
    "plot x^2 in red",
    "First 50 primes, except 7",
    "1/2x",
    "e^2x",
    "6/2(1+2)",
    "3 = 7 + 2a",
    "sin x^2",
    "bar chart of 1,200,300",
    "Mittelwert von 1.200 und 1.500",
    "log(100)",
    "sin(90)",
    "mean of 1.5, 2,5",
    "count from 1 to 10",
    "draw a line from 0 to 10",
    "is 2^10 = 1024?",
    "9^9^9^9",
    "First 10 of 50 primes",
    "Draw a bar chart",
    "solve sin(x) = 0",
    "不要画正弦曲线",
    "Mittelwert von 3 und 5 ohne 5",
    "What is the mean of a normal distribution?",
    "roll a die",
    "5 different random integers between 1 and 10",
    "10 random integers",
    "nearest palindrome of 120",
]


@pytest.mark.parametrize("prompt", REFUSED)
def test_question_that_is_not_wholly_understood_is_refused(prompt: str) -> None:
    answer = plan(prompt)
    assert isinstance(answer, str), answer
    assert "GEMINI_API_KEY" in answer


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("Hello", "I am not an AI: I understand only"),
        ("Hallo", "Ich bin keine KI"),
        ("你好", "我不是人工智能"),
        ("Plot x^2 in red", "*red*"),
        ("Describe my CSV", "There is no table in this conversation yet"),
    ],
)
def test_refusal_says_what_it_is_what_was_not_understood_and_lists_examples(prompt: str, text: str) -> None:
    answer = plan(prompt)
    assert isinstance(answer, str)
    assert text in answer
    assert answer.count("\n- ") >= 6
