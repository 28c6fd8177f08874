"""Time and memory of exports: `python -m bench.exports [--messages 5000] [--graphs 500] [FORMAT ...]`.

Each format is exported by a process of its own, from a database that is made for it, as in production: how much its
peak memory grew from before the export is what the export held at once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
from django.apps import apps
from django.utils import timezone
from django.utils.module_loading import import_string

ROOT = Path(__file__).resolve().parent.parent
FORMATS = ("json", "md", "html", "ipynb", "zip")
GRAPH_BYTES = 60_000
SEED = 20261121
WORDS = ("the", "sales", "of", "each", "month", "rose", "by", "a", "third", "and", "then", "fell", "again")
PNG = b"\x89PNG\r\n\x1a\n"
BATCH = 500
MADE = ("Message", "Turn", "Part", "MessageAttachment")


def main(arguments: list[str]) -> None:
    """Print a line for each format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", choices=[*FORMATS, []], metavar="FORMAT")
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--graphs", type=int, default=500)
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        _export(options.child)
        return
    with tempfile.TemporaryDirectory(prefix="plotline-bench-") as folder:
        os.environ |= {"PLOTLINE_VAR_DIR": folder, "DATABASE_URL": "", "REDIS_URL": "", "DEBUG": "1"}
        command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
        subprocess.run(command, cwd=ROOT, check=True)
        seed(options.messages, options.graphs)
        print(f"{options.messages} messages, {options.graphs} graphs of {GRAPH_BYTES // 1000} KB")
        print("format       MB      s   MB/s   peak memory grew by, MiB")
        for name in options.formats or FORMATS:
            command = [sys.executable, "-m", "bench.exports", "--child", name]
            said = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
            rate = said["bytes"] / 1e6 / said["seconds"]
            print(f"{name:6} {said['bytes'] / 1e6:8.1f} {said['seconds']:6.1f} {rate:6.1f} {said['grown_mib']:10.1f}")


def seed(messages: int, graphs: int) -> None:
    """One conversation of so many messages; its answers run code, and some of them draw."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    chance = random.Random(SEED)
    rows = {
        name: apps.get_model("chat", name) for name in ("Conversation", "Message", "Part", "Turn", "MessageAttachment")
    }
    owner = apps.get_model("auth", "User").objects.create(username="bench")
    conversation = rows["Conversation"].objects.create(owner=owner, title="A long conversation")
    parent = None
    every = max(1, messages // 2 // max(1, graphs))
    made: dict[str, list[Any]] = {name: [] for name in MADE}
    files: list[Any] = []
    pending: list[Any] = []
    now = timezone.now()
    for index in range(messages):
        text = " ".join(chance.choices(WORDS, k=120))
        is_answer = index % 2 == 1
        role = "model" if is_answer else "user"
        message = rows["Message"](conversation=conversation, parent=parent, index=index, role=role, text=text)
        made["Message"].append(message)
        if is_answer:
            turn = {"status": "done", "provider": "gemini", "model": "bench", "ended_at": now, "usage": {"total": 500}}
            made["Turn"].append(rows["Turn"](conversation=conversation, user_message=parent, message=message, **turn))
            parts = (
                ("text", text[:300]),
                ("executable_code", "import math\nprint(math.pi)\n" * 8),
                ("code_execution_result", "3.14159\n" * 20),
                ("text", f"## Result\n\n- **{text[:200]}**\n- `{text[200:300]}`\n\n{text[300:]}"),
            )
            made["Part"] += [
                rows["Part"](message=message, index=number, kind=kind, text=said)
                for number, (kind, said) in enumerate(parts)
            ]
            if index // 2 % every == 0 and len(files) < graphs:
                data = PNG + chance.randbytes(GRAPH_BYTES - len(PNG))
                file = _graph(owner, data)
                files.append(file)
                upload = apps.get_model("attachments", "PendingUpload")
                pending.append(upload(attachment=file, data=data, next_attempt_at=now + timedelta(days=1)))
                place = {"attachment": file, "index": 0, "part_index": 2}
                made["MessageAttachment"].append(rows["MessageAttachment"](message=message, **place))
        parent = message
    apps.get_model("attachments", "Attachment").objects.bulk_create(files, batch_size=BATCH)
    apps.get_model("attachments", "PendingUpload").objects.bulk_create(pending, batch_size=50)
    for name in MADE:
        rows[name].objects.bulk_create(made[name], batch_size=BATCH)


def _graph(owner: Any, data: bytes) -> Any:  # noqa: ANN401 - rows of apps that this package does not import
    return apps.get_model("attachments", "Attachment")(
        owner=owner,
        name="graph.png",
        mime_type="image/png",
        size_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        width=640,
        height=480,
        is_graph=True,
    )


def _export(name: str) -> None:
    """Of a child process: take the whole download and print what it cost."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    export_conversation = import_string("chat.exports.registry.export_conversation")
    conversations = apps.get_model("chat", "Conversation").objects
    # A short one first: modules and templates are loaded once, whatever is exported.
    warm = conversations.create(owner_id=conversations.get().owner_id, title="Short")
    apps.get_model("chat", "Message").objects.create(conversation=warm, index=0, role="user", text="**Hello** <b>")
    for _ in export_conversation(warm, name, exported_at=timezone.now()).chunks:
        pass
    warm.delete()
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory_mib("VmRSS")
    started_at = time.perf_counter()
    found = export_conversation(conversations.get(), name, exported_at=timezone.now())
    size_bytes = sum(len(chunk) for chunk in found.chunks)
    seconds = time.perf_counter() - started_at
    print(json.dumps({"bytes": size_bytes, "seconds": seconds, "grown_mib": _memory_mib("VmHWM") - before}))


def _memory_mib(line: str) -> float:
    """A line of this process's status: `VmRSS` is now, `VmHWM` the most since it was reset."""
    found = re.search(rf"^{line}:\s+(\d+) kB", Path("/proc/self/status").read_text(), flags=re.MULTILINE)
    assert found
    return int(found[1]) / 1024


if __name__ == "__main__":
    main(sys.argv[1:])
