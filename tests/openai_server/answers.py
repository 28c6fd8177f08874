"""What the server writes as the answer to one request."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from tests.openai_server.shape import EVENT_STREAM

PIECE_LIMITS = (1, 1, 7, 64, 400)
"""Upper limits of the sizes into which `in_pieces` cuts, in bytes. Each is taken equally often."""
LARGEST_PIECE_LIMIT = 1500
"""A further limit, which is larger for long bodies, so that they do not have thousands of pieces."""


class Pause(Enum):
    """A step without bytes."""

    SILENCE = auto()
    """Send nothing until the client closes the connection. As the first step: not even a status line."""
    CUT = auto()
    """Close the connection in the middle of the response."""


Step: TypeAlias = bytes | Pause


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. Each step with bytes is one write."""

    steps: Iterable[Step]
    status: int = 200
    content_type: str = EVENT_STREAM
    headers: Mapping[str, str] = field(default_factory=dict)


def in_pieces(body: bytes, seed: str) -> list[bytes]:
    """Cut a body into pieces as a network might. Some pieces have one byte. Equal seeds give equal pieces."""
    chance = random.Random(seed)
    limits = (*PIECE_LIMITS, max(LARGEST_PIECE_LIMIT, len(body) // 20))
    pieces = []
    start = 0
    while start < len(body):
        size = chance.randint(1, chance.choice(limits))
        pieces.append(body[start : start + size])
        start += size
    return pieces
