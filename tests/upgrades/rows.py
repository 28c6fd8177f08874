"""The rows of a database of a release: `make` creates them, `read` prints what the product shows of them, as JSON.

`processes.call` runs one of them.
"""

from __future__ import annotations

import hashlib
import io
import json

from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from PIL import Image

from attachments.store import NewAttachment, create_attachments
from attachments.uploads import attempt_upload
from chat.models import Conversation, User
from chat.vocabulary.parts import PartKind
from tests.factories import attach, make_conversation, make_model_message, make_user_message

QUESTION, ANSWER, CODE = "Plot the sine of x.", "Here is the sine.", "import math\nmath.sin(1)"
PASSWORD = "only for this file"


def make() -> None:
    """Create an account with a question and its answer: code, its result, a graph in storage, and text."""
    call_command("migrate", verbosity=0)
    owner = User.objects.create_user("Ada", password=PASSWORD, email="ada@example.org")
    conversation = make_conversation(owner, title="A sine")
    make_user_message(conversation, QUESTION)
    parts = [(PartKind.EXECUTABLE_CODE, CODE), (PartKind.CODE_EXECUTION_RESULT, "0.84\n"), (PartKind.TEXT, ANSWER)]
    answer = make_model_message(conversation, parts=parts)
    new = NewAttachment(
        owner_id=owner.pk,
        data=_picture(),
        name="sine.png",
        mime_type="image/png",
        width=64,
        height=48,
        is_graph=True,
    )
    [graph] = create_attachments([new])
    attach(answer, graph, part_index=1)
    assert attempt_upload(graph.pk) == "stored"


def read() -> None:
    """Print what a person gets of these rows."""
    conversation = Conversation.objects.get(title="A sine")
    client = Client(headers={"host": "localhost"})
    assert client.login(username="ADA", password=PASSWORD)
    page = client.get(conversation.get_absolute_url()).content.decode()
    graph = conversation.messages.get(role="model").message_attachments.get().attachment
    content = client.get(reverse("attachment-content", args=[graph.pk]))
    data = content.getvalue()
    messages = client.get(f"/api/v1/conversations/{conversation.pk}/messages/").json()["results"]
    found = client.get("/api/v1/conversations/?q=sine").json()["results"]
    shown = {
        "page": [text in page for text in (QUESTION, ANSWER, "0.84")],
        "graph": hashlib.sha256(data).hexdigest() == graph.sha256,
        "messages": [message["text"] for message in messages],
        "found": [one["title"] for one in found],
    }
    print(json.dumps(shown))


def _picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (64, 48), (30, 90, 200)).save(file, "PNG")
    return file.getvalue()
