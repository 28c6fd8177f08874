"""Answers that a page can easily show wrongly. Run `create` with `run_in_shell` on the server under test."""

from __future__ import annotations

import io
import uuid
from collections.abc import Mapping

from PIL import Image

from attachments.store import create_attachment
from chat.models import Conversation, User
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, ExecutableCode, InlineData, Part, Text
from tests.chat.library.exports.samples import add_parts
from tests.factories import attach, make_model_message, make_user_message

CONVERSATION_ID = uuid.UUID("00000000-0000-4000-8000-00000000a115")
SIGNED = {"thought_signature": "c2lnbmVk"}
SAMPLES: Mapping[str, tuple[Part, ...]] = {
    "signature": (Text("Rain is **ver", provider_data=SIGNED), Text("y likely** today.")),
    "formula": (Text("The area is \\(r^2\\) here."),),
    "display formula": (Text("Then:\n\n\\[\n\\frac{a}{b}\n\\]\n\nThe end."),),
    "refused formula": (Text(f"See ${'{' * 200}x{'}' * 200}$."),),
    "linked image": (Text("![A pixel](https://example.org/pixel.png)"),),
    "money": (Text("It costs $5 and $10."),),
    "tildes": (Text("From ~5 to ~10, not ~~7~~."),),
    "escape codes": (
        ExecutableCode("print(report)", "PYTHON"),
        CodeExecutionResult("\x1b[1;31mred\x1b[0m and plain\n", outcome=OUTCOME_OK),
    ),
    "diagram": (Text("```mermaid\ngraph TD; A-->B\n```"),),
    "image": (InlineData("image/png"), Text("A teal square.")),
}


def create() -> None:
    """Create a conversation of the user `demo` with one question and answer for each sample."""
    owner = User.objects.get(username="demo")
    conversation = Conversation.objects.create(pk=CONVERSATION_ID, owner=owner, title="Samples")
    for name, parts in SAMPLES.items():
        make_user_message(conversation, name)
        answer = make_model_message(conversation, parts=[])
        add_parts(answer, *parts)
    file = io.BytesIO()
    Image.new("RGB", (64, 48), "teal").save(file, "PNG")
    picture = create_attachment(
        owner_id=owner.pk,
        data=file.getvalue(),
        name="a.png",
        mime_type="image/png",
        width=64,
        height=48,
        is_graph=False,
    )
    attach(answer, picture, part_index=0)
