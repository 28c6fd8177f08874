"""Formats durations, and sentences with durations that pages and exports share. Pure."""

from __future__ import annotations


def duration_text(duration_ms: int) -> str:
    """Return a duration for readers: `0.4 s`, `12 s` or `2 min 5 s`."""
    seconds = duration_ms / 1000
    if seconds < 9.95:
        return f"{max(seconds, 0.1):.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def thought_sentence(duration_ms: int | None) -> str:
    """Return a sentence that says how long a thought took. `None`: the model still thinks, or the time is not known."""
    return "Thoughts" if duration_ms is None else f"Thought for {duration_text(duration_ms)}"
