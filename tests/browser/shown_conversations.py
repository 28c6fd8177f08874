"""Creates the conversations on screenshots that the demo model cannot answer. Run with `run_in_shell`."""

from __future__ import annotations

from chat.messages.changes import ApprovalRequested, Change, PartStarted
from chat.messages.log import to_row
from chat.models import Conversation, Review, ReviewDecision, Turn, TurnEvent, User
from chat.vocabulary.parts import (
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    FunctionCall,
    PartKind,
    Text,
)
from tests.chat.library.exports.samples import add_parts
from tests.factories import make_model_message, make_user_message

QUESTION = "How sure can I be of the mean of these 90 days of rain? Explain the formula, then compute it."
EXPLANATION = """\
The mean of a sample is itself random. For $n$ independent values with the standard deviation $s$, a **95 % confidence
interval** of the mean is[^1]

$$
\\bar{x} \\pm t_{0.975,\\,n-1} \\cdot \\frac{s}{\\sqrt{n}},
\\qquad s^2 = \\frac{1}{n-1}\\sum_{i=1}^{n} (x_i - \\bar{x})^2
$$

I compute it for each month and for all days.

[^1]: It also holds approximately for skewed values such as rain, if there are many of them.
"""
CODE = """\
from scipy import stats

def interval(rain):
    half = stats.t.ppf(0.975, len(rain) - 1) * rain.std(ddof=1) / len(rain) ** 0.5
    return rain.mean() - half, rain.mean() + half

rain_mm.groupby(rain_mm.index.month_name()).agg(["count", "mean", interval])
"""
TABLE = """\
<table><thead><tr><th>month</th><th>days</th><th>mean</th><th>low</th><th>high</th></tr></thead><tbody>
<tr><td>January</td><td>31</td><td>2.41</td><td>1.66</td><td>3.16</td></tr>
<tr><td>February</td><td>28</td><td>2.18</td><td>1.47</td><td>2.89</td></tr>
<tr><td>March</td><td>31</td><td>2.79</td><td>1.93</td><td>3.65</td></tr>
</tbody></table>"""
CONCLUSION = """\
Over all 90 days the mean is **2.47 mm**, and the interval is 2.03 to 2.91 mm. So the three months do not differ
clearly:

- [x] the intervals overlap
- [x] each month has nearly the same spread
- [ ] a longer series, to be sure
"""
CLEAN_UP = """\
from pathlib import Path

for path in Path("reports").glob("*.csv"):
    if path.stat().st_size == 0:
        print("deleting", path)
        path.unlink()
"""


def create_shown() -> None:
    """Create conversations of the user `demo`, who may review them."""
    demo = User.objects.get(username="demo")
    demo.is_staff = demo.is_superuser = True
    demo.save()
    _create_statistics(demo)
    conversation = Conversation.objects.create(owner=demo, title="Clean up the reports")
    make_user_message(conversation, "Delete all empty CSV files in the folder reports.")
    text = "There may be several. I look at each file, and delete those without any content."
    answer = make_model_message(conversation, parts=[(PartKind.TEXT, text)], status=Turn.Status.WAITING)
    call = FunctionCall("run_python", {"code": CLEAN_UP}, call_id="call-1")
    changes: list[Change] = [PartStarted(1, call), ApprovalRequested("call-1", "approval-1")]
    for seq, change in enumerate(changes, start=2):
        name, data = to_row(change)
        TurnEvent.objects.create(turn=answer.turn, seq=seq, name=name, data=data)


def _create_statistics(owner: User) -> None:
    conversation = Conversation.objects.create(owner=owner, title="Confidence of a mean")
    make_user_message(conversation, QUESTION)
    answer = make_model_message(conversation, parts=[])
    add_parts(
        answer,
        Text(EXPLANATION),
        ExecutableCode(CODE, language="PYTHON", engine=Engine.SESSION),
        Display({"text/html": TABLE}),
        CodeExecutionResult(None, outcome=OUTCOME_OK, engine=Engine.SESSION),
        Text(CONCLUSION),
    )
    usage = {"prompt": 640, "candidates": 512, "total": 1152}
    Turn.objects.filter(message=answer).update(code_execution=True, usage=usage)
    Review.objects.decide([conversation.pk], owner, ReviewDecision.APPROVED, note="Correct.", labels=["statistics"])
