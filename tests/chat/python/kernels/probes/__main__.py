"""Make attempts and print a JSON object: from the name of each to `[whether it was denied, a description]`.

    python -m tests.chat.python.kernels.probes '{"tcp_port": ..., "pid": ..., ...}' [NAME ...]

Without names, all attempts are made.
"""

from __future__ import annotations

import json
import signal
import sys

from tests.chat.python.kernels.probes import files, network, processes, system_calls  # noqa: F401 - they register attempts
from tests.chat.python.kernels.probes.registry import ATTEMPTS, Targets

LIMIT_S = 60


def main() -> None:
    """Make the chosen attempts."""
    signal.alarm(LIMIT_S)
    targets: Targets = json.loads(sys.argv[1])
    results = {}
    for name in sys.argv[2:] or list(ATTEMPTS):
        try:
            results[name] = (False, str(ATTEMPTS[name](targets)))
        except (OSError, MemoryError) as error:
            results[name] = (True, str(error) or type(error).__name__)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
