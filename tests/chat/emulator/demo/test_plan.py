"""What the demo model plans: right answers to newcomers' questions, follow-ups, and refusals of everything else."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from django.utils.translation import gettext, override

from chat.emulator.attached_files import AttachedFile
from chat.emulator.code_runs import CodeRun
from chat.emulator.demo.language import TEXTS, Plan
from chat.emulator.demo.plan import plan_answer
from chat.python.kernels.outputs import ExecutionStatus
from tests.chat.emulator.demo.newcomer_prompts import NO_FILES, PEOPLE, PROMPTS, SALES
from tests.chat.emulator.demo.run_programs import Result, run_programs

MISSING = "missing"


def plan(*prompts: str, files: Mapping[str, bytes] = NO_FILES, program: str = "", new: bool = True) -> Plan | str:
    """Return the plan for the last of these prompts."""
    attached = [AttachedFile(name, "text/csv", data, is_new=new) for name, data in files.items()]
    return plan_answer(prompts[::-1], [program] if program else [], attached)


def program_of(*prompts: str, files: Mapping[str, bytes] = NO_FILES) -> str:
    """Return the one program that is planned."""
    planned = plan(*prompts, files=files)
    assert isinstance(planned, Plan), planned
    return planned.program


def comment_of(planned: Plan, result: Result) -> str:
    """Return the text after the program."""
    return CodeRun(ExecutionStatus.OK, result.text, "", 0, None).comment(planned).strip()


def offered(answer: str) -> list[str]:
    """Return the questions that an answer offers."""
    return [
        html.unescape(re.sub(r"\\(.)", r"\1", one)) for one in re.findall(r"^- \[(.+)\]\(#ask\)$", answer, re.MULTILINE)
    ]


def run(planned: Sequence[tuple[Mapping[str, bytes], Plan]], folder: Path) -> list[Result]:
    """Run the program of each plan."""
    return run_programs([(files, one.program) for files, one in planned], folder)


def test_result_that_code_printed_is_shown_as_a_latex_formula() -> None:
    planned = plan("Solve x^2 - 5x + 6 = 0")
    assert isinstance(planned, Plan)
    for printed, latex in (
        ("result: x = 2 ∨ x = 3", r"x = 2 \vee x = 3"),
        ("result: 0.5, exactly 1/2\nLaTeX: \\frac{1}{2} = 0.5", r"\frac{1}{2} = 0.5"),
    ):
        run_code = CodeRun(ExecutionStatus.OK, printed, "", 0, None)
        assert run_code.comment(planned) == f"The result is ${latex}$.\n"


@pytest.mark.drill
def test_typical_first_prompts_get_a_right_answer_or_a_refusal(tmp_path: Path) -> None:
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
def test_every_example_question_runs_without_an_error_and_gets_a_comment(tmp_path: Path) -> None:
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
def test_suggested_changes_of_a_curve_are_understood_and_change_its_program(prompt: str) -> None:
    shown = plan(prompt)
    assert isinstance(shown, Plan)
    suggested = re.findall(r"\[(.+)\]\(#ask\)", shown.comment)
    assert len(suggested) == 2
    for change in suggested:
        changed = plan(prompt, change)
        assert isinstance(changed, Plan), change
        assert changed.program != shown.program, change


@pytest.mark.parametrize("prompt", ["Plot a sine wave", "First 50 primes", "Draw a histogram of 1000 random numbers"])
def test_demo_model_plans_code_for_the_questions_on_the_buttons_of_an_empty_page(prompt: str) -> None:
    assert isinstance(plan(prompt), Plan)


@pytest.mark.parametrize(
    ("prompt", "code"),
    [
        ("simulate 10,000 rolls of two dice and plot the distribution of the sum", "10000"),
        ("How does the central limit theorem work?", "exponential"),
        ("Which month had the most visitors?", "groupby('month')"),
    ],
)
def test_demo_model_plans_code_for_questions_in_the_words_that_people_use(prompt: str, code: str) -> None:
    files = {"visitors.csv": b"month,visitors\n2026-01,820\n2026-02,910\n2026-03,1290\n"}
    assert code in program_of(prompt, files=files if "visitors" in prompt else NO_FILES)


FOLLOW_UPS = [
    (["Plot a sine wave", "Make it a cosine"], ["np.cos(x)", "4 * np.pi"], ["np.sin"]),
    (["Plot a sine wave", "now from 0 to 10"], ["np.sin(x)", "linspace(0, 10"], []),
    (["Zeichne eine Sinuskurve", "Mach daraus einen Kosinus"], ["np.cos(x)"], ["np.sin"]),
    (["画一条正弦曲线", "改成余弦"], ["np.cos(x)"], ["np.sin"]),
    (["First 50 primes", "Continue"], ["isprime(k)), 50)"], []),
]


@pytest.mark.parametrize(("prompts", "present", "absent"), FOLLOW_UPS, ids=[one[0][-1] for one in FOLLOW_UPS])
def test_follow_up_prompt_changes_the_previous_program(
    prompts: list[str], present: list[str], absent: list[str]
) -> None:
    program = program_of(*prompts)
    assert [one for one in present if one not in program] == []
    assert [one for one in absent if one in program] == []


def test_text_of_the_change_button_below_the_last_graph_is_understood_as_a_follow_up() -> None:
    program = program_of("Plot a sine wave")
    changed = plan("Plot a sine wave", "Change the graph “sin(x)” (graph 1): Make it a cosine", program=program)
    assert isinstance(changed, Plan), changed
    assert "np.cos(x)" in changed.program
    untitled = plan("Plot a sine wave", "Change graph 1: now from 0 to 10", program=program)
    assert isinstance(untitled, Plan), untitled
    # Only the look of a graph before the last one can be changed.
    changed = plan("Plot a sine wave", "Change the graph “x^2” (graph 1): Make it a cosine", program=program)
    assert isinstance(changed, str)


def test_follow_up_to_a_question_about_a_list_or_a_table_is_refused() -> None:
    assert isinstance(plan("mean of 3, 5, 8", "Make it the median instead"), str)
    assert isinstance(plan("mean of 3, 5, 8", "as a bar chart instead"), str)
    assert isinstance(plan("mean price", "make it the median price instead", files={"sales.csv": SALES}), str)


@pytest.mark.parametrize("prompt", ["Make it a cosine", "as a bar chart instead", "again", "now from 0 to 10"])
def test_follow_up_prompt_without_a_previous_program_is_refused(prompt: str) -> None:
    assert isinstance(plan(prompt), str)
    assert isinstance(plan("What is love?", prompt), str)


def test_last_program_runs_again_only_if_the_prompt_asks_for_nothing_else() -> None:
    for prompt in ("again", "Run it again", "Noch einmal, bitte", "再来一次"):
        planned = plan("First 50 primes", prompt, program="print(1)")
        assert isinstance(planned, Plan)
        assert planned.program == "print(1)"
    assert isinstance(plan("First 50 primes", "again, but tell me why", program="print(1)"), str)


def test_code_block_in_a_prompt_is_run_unchanged() -> None:
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
    "plot x^2 in stripes",
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
    assert len(offered(answer)) == 3


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("Hello", "I am not an AI but"),
        ("Hallo", "Ich bin keine KI"),
        ("你好", "我不是人工智能"),
        ("Plot x^2 in stripes", "(*stripes*)"),
        ("Describe my CSV", "There is no table yet"),
    ],
)
def test_refusal_has_a_reason_in_one_line_and_three_questions_that_can_be_answered(prompt: str, text: str) -> None:
    answer = plan(prompt)
    assert isinstance(answer, str)
    reason, *_ = answer.partition("\n\n")
    assert text in reason
    assert "\n" not in reason
    assert len(offered(answer)) == 3
    assert [one for one in offered(answer) if isinstance(plan(one), str)] == []


@pytest.mark.parametrize(
    ("prompt", "first"),
    [
        (
            "How would a histogram of random numbers from a beta distribution look?",
            "Draw a histogram of 1000 random numbers",
        ),
        ("Solve x^5 - x + 1 = 0 numerically with Newton", "Solve x^2 - 5x + 6 = 0"),
        ("Simuliere Münzwürfe bis zum ersten Kopf", "Simuliere 1000 Münzwürfe"),
        ("下一个素数的规律是什么", "列出前 50 个素数"),
    ],
)
def test_most_similar_example_question_is_offered_first(prompt: str, first: str) -> None:
    answer = plan(prompt)
    assert isinstance(answer, str)
    assert offered(answer)[0] == first


@pytest.mark.parametrize(
    ("prompt", "questions"),
    [
        ("Plot a sine wave and list the first 50 primes", ["Plot a sine wave", "list the first 50 primes"]),
        ("Zeichne eine Sinuskurve, und dann 3 + 4", ["Zeichne eine Sinuskurve", "3 + 4"]),
        ("画正弦曲线，然后列出前50个质数", ["画正弦曲线", "列出前50个质数"]),
    ],
)
def test_prompt_with_two_questions_is_refused_and_each_is_offered_separately(prompt: str, questions: list[str]) -> None:
    answer = plan(prompt)
    assert isinstance(answer, str)
    assert offered(answer) == questions


def test_suggested_questions_about_a_table_use_its_column_names_and_can_be_answered() -> None:
    answer = plan("What should we do about the price?", files={"sales.csv": SALES})
    assert isinstance(answer, str)
    assert offered(answer)[0] == 'Plot "units" over "date"'
    assert [one for one in offered(answer) if isinstance(plan(one, files={"sales.csv": SALES}), str)] == []
    several = plan("Describe it", files={"a.csv": SALES, "b.csv": PEOPLE}, new=False)
    assert isinstance(several, str)
    assert offered(several) == ["a.csv", "b.csv"]


GRAPH = "import matplotlib.pyplot as plt\n\nplt.plot([1, 2])\nplt.title('A')\nplt.show()\n"


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_suggested_changes_of_a_graph_insert_lines_before_the_call_that_shows_it(language: str) -> None:
    for change in TEXTS["changes"][language]:
        planned = plan("Draw", change, program=GRAPH)
        assert isinstance(planned, Plan), change
        head, tail = GRAPH.split("plt.show()")
        assert planned.program.startswith(head)
        assert planned.program.endswith(f"plt.show(){tail}")
        assert "plt." in planned.program[len(head) : -len(f"plt.show(){tail}")]


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("plot x^2 in red", 'color="red")'),
        ('Zeichne x^2 in grün, Titel: "Meine Kurve"', "plt.title('Meine Kurve')"),
        ("plot sin(x) with a dashed line", 'linestyle="--"'),
    ],
)
def test_question_can_set_color_title_and_line_style_of_its_graph(prompt: str, line: str) -> None:
    assert line in program_of(prompt)


def test_color_names_before_numbers_are_used_as_labels_of_bars() -> None:
    assert "['red', 'blue']" in program_of("Bar chart of red 3, blue 5")


@pytest.mark.parametrize("language", ["en", "de", "zh-hans"])
@pytest.mark.parametrize("title", ["A", ""])
def test_text_of_the_change_button_below_any_graph_is_understood_as_a_change_of_this_graph(
    language: str, title: str
) -> None:
    template = "Change the graph “%(title)s” (graph %(number)s):" if title else "Change graph %(number)s:"
    with override(language):
        quote = gettext(template) % {"title": title, "number": 1}
    planned = plan_answer(
        [f"{quote} red", "Plot a sine wave"], ["plt.title('B')\nplt.show()\n"] * bool(title) + [GRAPH], []
    )
    assert isinstance(planned, Plan), planned
    assert "plt.title('A')" in planned.program
    assert 'color="red"' in planned.program
    refused = plan_answer([f"{quote} as a poem", "Plot a sine wave"], [GRAPH], [])
    assert isinstance(refused, str)
    assert offered(refused) == TEXTS["changes"]["en"]
