"""Creates a user with conversations of every kind of content. Run with `run_in_shell` on the server under test."""

from __future__ import annotations

import io
import uuid
from datetime import timedelta

from django.utils import timezone
from PIL import Image

from attachments.models import Attachment
from attachments.store import NewAttachment, create_attachments
from chat.messages.changes import ApprovalRequested, Change, PartStarted
from chat.messages.log import to_row
from chat.models import (
    AccessEntry,
    Conversation,
    Feedback,
    Message,
    Project,
    PythonSession,
    Review,
    ReviewDecision,
    Share,
    Turn,
    TurnEvent,
    User,
)
from chat.models.projects import add_files, move_conversation
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    PartKind,
    Text,
    WrittenFile,
)
from tests.chat.library.exports.samples import add_parts
from tests.display_bundles import BUNDLES
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user, make_user_message

RICH_ID = uuid.UUID("00000000-0000-4000-8000-00000000a111")
WAITING_ID = uuid.UUID("00000000-0000-4000-8000-00000000a112")
EMPTY_ID = uuid.UUID("00000000-0000-4000-8000-00000000a113")
PROJECT_ID = uuid.UUID("00000000-0000-4000-8000-00000000a114")
SHARE_TOKEN = "a-link-to-the-first-conversation"
GRAPH_SIZE = (640, 480)
CODE = """\
import matplotlib.pyplot as plt
values = [3, 5, 4]
plt.bar(["Jan", "Feb", "Mar"], values)
plt.title("Sales by month")
plt.ylabel("pieces")
plt.show()
"""
TEXT = """\
# Result

The **sum** is $\\frac{n(n+1)}{2}$, as `sum(range(n))` says.[^1] See [Python](https://www.python.org).

$$
f(x) = a_0 + a_1 x + a_2 x^2 + a_3 x^3 + a_4 x^4 + a_5 x^5 + a_6 x^6 + a_7 x^7 + a_8 x^8 + a_9 x^9 + a_{10} x^{10} + c
$$

## Details

> A quotation.

```python
print("a line that is longer than the column of the page is wide, so that it scrolls in its own box", 1, 2, 3)
```

| month | pieces | price | revenue | share | rank | region | comment |
|---|--:|--:|--:|--:|--:|---|---|
| January | 3 | 10.00 | 30.00 | 25 % | 3 | north-west | first column, second column |

- [x] done
- [ ] open

[^1]: A note.
"""


def create() -> None:
    """Create the superuser `reader` with the password `reader`, and their conversations, one of them reviewed."""
    reader = make_user("reader", password="reader", is_staff=True, is_superuser=True)
    Conversation.objects.create(pk=EMPTY_ID, owner=reader)
    conversation = Conversation.objects.create(pk=RICH_ID, owner=reader, title="Sales", pinned_at=timezone.now())
    _add_answer_of_all_kinds(conversation)
    _add_broken_answers(conversation)
    share = Share.objects.issue(conversation)
    Share.objects.filter(pk=share.pk).update(token=SHARE_TOKEN)
    _add_waiting_answer(Conversation.objects.create(pk=WAITING_ID, owner=reader, title="Waiting for a decision"))
    make_conversation(reader, title="An old one", archived_at=timezone.now().isoformat())
    project = Project.objects.create(pk=PROJECT_ID, owner=reader, name="Sales of the year", instruction="Be brief.")
    add_files(project, [make_attachment(reader, name="targets.csv")])
    move_conversation(conversation, project)
    PythonSession.objects.create(
        conversation=conversation,
        state=PythonSession.State.RUNNING,
        kernel_id="kernel",
        variables=[{"name": "frame", "type": "DataFrame", "shape": [3, 2], "preview": "month  pieces"}],
        files=[{"name": "sales.csv", "size_bytes": 120}],
        started_at=timezone.now(),
        # While code runs in a session, the server does not check it, so it does not notice that the kernel is missing.
        busy_until=timezone.now() + timedelta(days=1),
    )
    Review.objects.decide([conversation.pk], reader, ReviewDecision.FLAGGED, note="Look at it.", labels=["maths"])
    AccessEntry.objects.record(reader, [conversation], "read", reason="Reported by its user")


def _image(owner: User, name: str, *, is_graph: bool) -> Attachment:
    file = io.BytesIO()
    Image.new("RGB", GRAPH_SIZE, "teal").save(file, "PNG")
    width, height = GRAPH_SIZE
    new = NewAttachment(
        owner_id=owner.pk,
        data=file.getvalue(),
        name=name,
        mime_type="image/png",
        width=width,
        height=height,
        is_graph=is_graph,
    )
    return create_attachments([new])[0]


def _add_answer_of_all_kinds(conversation: Conversation) -> None:
    owner = conversation.owner
    question = make_user_message(conversation, "Plot the *sales*:\n- by month\n- as bars")
    attach(question, make_attachment(owner, data=b"month,pieces\nJan,3\n", name="sales.csv"))
    attach(question, _image(owner, "photo.png", is_graph=False))
    answer = make_model_message(conversation, parts=[(PartKind.THOUGHT, "Bars show **months** well.")])
    files = (WrittenFile("out.csv", 20, "2026-01-01T00:00:00+00:00", is_new=True),)
    add_parts(
        answer,
        Text("I draw them."),
        ExecutableCode(CODE, language="PYTHON", call_id="call-1"),
        InlineData(mime_type="image/png"),
        CodeExecutionResult("12\n", outcome=OUTCOME_OK, call_id="call-1", files=files),
        *(Display(BUNDLES[name]) for name in ("small", "latex", "svg", "json")),
        ExecutableCode("1 / 0\n", language="PYTHON"),
        CodeExecutionResult("ZeroDivisionError: division by zero\n", outcome=OUTCOME_FAILED),
        FunctionCall("list_files", {"below": "."}, call_id="call-2"),
        FunctionResponse("list_files", {"files": ["out.csv"]}, call_id="call-2"),
        Text(TEXT),
    )
    attach(answer, _image(owner, "graph.png", is_graph=True), part_index=3)
    Message.objects.filter(pk=answer.pk).update(
        text="I draw them.", reruns={"2": {"verdict": "reproduced", "detail": "The same output."}}
    )
    Turn.objects.filter(message=answer).update(
        sources=[{"url": "https://example.org/a", "title": "Example"}], queries=["sales by month"], round_count=1
    )
    Feedback.objects.give(answer, owner.pk, is_good=False, reason="The graph is wrong")
    _add_version(answer)


def _add_version(answer: Message) -> None:
    """Add a hidden version of an answer, so that it shows the buttons that switch."""
    version = Message.objects.create(
        conversation=answer.conversation, parent=answer.parent, index=answer.index, role="model", is_shown=False
    )
    add_parts(version, Text("An older answer."))
    Turn.objects.create(
        conversation=answer.conversation,
        user_message=answer.turn.user_message,
        message=version,
        status=Turn.Status.DONE,
        provider="gemini",
        model="plotline-demo",
        ended_at=timezone.now(),
    )


def _add_broken_answers(conversation: Conversation) -> None:
    half = [(PartKind.TEXT, "Half an answer")]
    make_user_message(conversation, "Go on")
    make_model_message(conversation, parts=half, status=Turn.Status.FAILED, error_code="overloaded")
    make_user_message(conversation, "```python\nprint(6 * 7)\n```")
    make_model_message(conversation, parts=half, status=Turn.Status.INTERRUPTED)
    make_user_message(conversation, "Once more")
    make_model_message(conversation, parts=half, status=Turn.Status.STOPPED)


def _add_waiting_answer(conversation: Conversation) -> None:
    answer = make_model_message(conversation, parts=[(PartKind.TEXT, "I run this.")], status=Turn.Status.WAITING)
    call = FunctionCall("run_python", {"code": CODE, "timeout_s": 30}, call_id="call-1")
    changes: list[Change] = [PartStarted(1, call), ApprovalRequested("call-1", "approval-1")]
    for seq, change in enumerate(changes, start=2):
        name, data = to_row(change)
        TurnEvent.objects.create(turn=answer.turn, seq=seq, name=name, data=data)
