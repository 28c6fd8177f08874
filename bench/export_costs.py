"""Measures one export in this process: `python -m bench.with_django bench.export_costs FORMAT`.

The database holds one conversation of `bench.export_dataset`. The result is printed as JSON.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

from django.utils import timezone

from bench.exports import ExportCost
from chat.library.exports.registry import export_conversation
from chat.models import Conversation, Message


def main(format_name: str) -> None:
    """Export the conversation, discard its bytes, and print time and memory."""
    conversations = Conversation.objects
    # Export a short conversation first, so that loaded modules and templates do not count as memory of the export.
    short = conversations.create(owner_id=conversations.get().owner_id, title="Short")
    Message.objects.create(conversation=short, index=0, role="user", text="**Hello** <b>")
    for _ in export_conversation(short, format_name, exported_at=timezone.now()).chunks:
        pass
    short.delete()
    # Writing 5 resets the peak memory of this process (VmHWM).
    Path("/proc/self/clear_refs").write_text("5")
    memory_before_mib = read_memory_mib("VmRSS")
    started_at = time.perf_counter()
    download = export_conversation(conversations.get(), format_name, exported_at=timezone.now())
    size_bytes = sum(len(chunk) for chunk in download.chunks)
    seconds = time.perf_counter() - started_at
    grown_mib = read_memory_mib("VmHWM") - memory_before_mib
    print(json.dumps(ExportCost(bytes=size_bytes, seconds=seconds, grown_mib=grown_mib)))


def read_memory_mib(field: str) -> float:
    """Return a field of this process's status: `VmRSS` is the current memory, `VmHWM` its peak since the reset."""
    match = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), flags=re.MULTILINE)
    assert match
    return int(match[1]) / 1024
