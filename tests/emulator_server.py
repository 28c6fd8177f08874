"""The emulator as a process of its own on a free port, for tests that speak to it over a real socket."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chat.emulator.embedded import EmbeddedEmulator

RECORDINGS_VARIABLE = "PLOTLINE_RECORDINGS_DIR"
NO_RECORDINGS = f"recorded traffic is not here: set {RECORDINGS_VARIABLE} or put it into ../shared/gemini-recordings"


@contextmanager
def running_emulator(
    recordings: Path | None = None,
    pace: float = 0.0,
    warm_kernels: int = 0,
    code_limit_s: float = 30.0,
    strict: bool = False,
) -> Iterator[str]:
    """Run the emulator for the length of the block; yields its base URL, `http://127.0.0.1:PORT`.

    Takes about half a second to start, so share one per session or module. Models are `scenario-NAME`,
    `replay-STEM` (of `recordings`) and any other name for the demo model; see `chat.emulator`. `strict` refuses what
    the real API does; see `chat.emulator.strict`.
    """
    arguments = ["--pace", str(pace), "--warm-kernels", str(warm_kernels), "--code-limit", str(code_limit_s)]
    arguments.append("--journal")
    if strict:
        arguments.append("--strict")
    if recordings is not None:
        arguments += ["--recordings", str(recordings.resolve())]
    emulator = EmbeddedEmulator(arguments)
    try:
        yield emulator.url
    finally:
        emulator.close()


def recordings_folder() -> Path | None:
    """Where recorded traffic lies beside the checkout; None when it is not there: skip with NO_RECORDINGS then."""
    named = os.environ.get(RECORDINGS_VARIABLE)
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "gemini-recordings"
    return folder if folder.is_dir() else None
