"""A client for the number of an emulator's kernels. It uses the standard library only: the web server imports it."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException

KERNELS_PATH = "/emulator/kernels"
TIMEOUT_S = 1.0

#: Ignores the proxies of the environment: the emulator runs on this machine or beside it.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class KernelCount:
    """The number of kernels of one emulator."""

    alive: int
    """Kernels that run or are starting."""
    warm: int
    """Those of them that run and wait for their first program."""


def kernel_count(emulator_url: str) -> KernelCount | None:
    """Return the kernel count of the emulator at this URL, or None if the URL is empty or it does not respond."""
    if not emulator_url:
        return None
    try:
        with _opener.open(emulator_url.rstrip("/") + KERNELS_PATH, timeout=TIMEOUT_S) as response:
            return KernelCount(**json.load(response))
    except (OSError, HTTPException, ValueError, TypeError):
        return None
