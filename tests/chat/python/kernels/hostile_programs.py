"""Programs that use up what a kernel can get, and one that searches for secrets."""

from __future__ import annotations

from collections.abc import Iterable

FORK_BOMB = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
PROGRAMS = {
    "fork bomb": FORK_BOMB,
    "64 GiB": "held = bytearray(64 * 1024**3)",
    "forks that take 6 GiB": (
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        held = b'x' * 1024**3\n"
        "        time.sleep(600)\ntime.sleep(600)"
    ),
    "1 GB in many prints": "for _ in range(10**6): print('x' * 1000)",
    "1 GB in one print": "print('x' * 10**9)",
    "endless loop": "while True: pass",
    "endless loop in C": "sum(range(10**12))",
    "SIGINT ignored": "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
    "full disk": (
        "number = 0\nwhile True:\n    with open(f'{number}', 'wb') as file: file.write(bytes(10**6))\n    number += 1"
    ),
    "many empty files": "number = 0\nwhile True:\n    open(f'/tmp/{number}', 'w').close()\n    number += 1",
    "socket pairs": (
        "import os, socket, time\nfor _ in range(50):\n    if os.fork() == 0: break\n"
        "pairs = [socket.socketpair() for _ in range(110)]\n"
        "for pair in pairs:\n    for end in pair:\n        end.setblocking(False)\n"
        "        try:\n            while True: end.send(bytes(60_000))\n        except OSError: pass\ntime.sleep(600)"
    ),
    "death": "import os\nos._exit(1)",
    "crash": "import ctypes\nctypes.string_at(0)",
}

_SEARCH = """
import os
wanted = [first.encode() + second.encode() for first, second in {halves!r}]
found = []
for folder in ('/proc/1', '/proc/self', '/rt', '/box', '/tmp', '/etc', '/home', '/root', '/var', '/run', '/srv'):
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                # Some files of the kernel block until something happens.
                with os.fdopen(os.open(os.path.join(path, name), os.O_RDONLY | os.O_NONBLOCK), 'rb') as file:
                    data = file.read(200_000) or b''
            except OSError:
                continue
            found += [os.path.join(path, name) for secret in wanted if secret in data]
# Pages show the variables of a session.
del wanted
print(found)
"""


def search_for(secrets: Iterable[str]) -> str:
    """Return a program that prints a list of the files that contain one of the secrets.

    The program joins the halves of each, so that it does not find itself.
    """
    return _SEARCH.format(halves=[(secret[:7], secret[7:]) for secret in secrets])
