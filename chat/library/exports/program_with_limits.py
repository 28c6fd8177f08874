"""A program that limits itself, and then becomes another program or compiles Typst.

`program_with_limits.py MEMORY_BYTES CPU_S exec PROGRAM ARGUMENTS...` becomes the program.
`program_with_limits.py MEMORY_BYTES CPU_S typst` compiles `main.typ` of the working directory to a PDF on stdout.
`program_with_limits.py MEMORY_BYTES CPU_S typst-png` draws its pages into `page-1.png` and so on, beside it.
`document_programs` runs it, so it imports no other module of the project. MEMORY_BYTES is 0 for a program that limits
its memory itself. Sockets are refused, where libseccomp is installed: neither program may fetch anything.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

import typst

try:
    import pyseccomp
except (ImportError, OSError, RuntimeError):
    pyseccomp = None

FILE_LIMIT_BYTES = 128 * 1024**2
"""Maximum size of a file, also of stdout. Python ignores the signal of this limit; `limit` lets it end the program."""
NICENESS = 10
"""The nice value of the program, so that the server's own work has priority."""


def limit(memory_bytes: int, cpu_s: int) -> None:
    """Limit this process and the programs that it becomes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.nice(NICENESS)
    # If memory runs out, the operating system ends this program, not the server.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    if memory_bytes:
        # RLIMIT_DATA is used, because RLIMIT_AS also counts mapped font files, most of which are never read.
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT_BYTES, FILE_LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if pyseccomp is not None:
        rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
        rules.add_rule(pyseccomp.ERRNO(1), "socket")
        rules.load()


def compile_pdf() -> bytes:
    """Return the PDF of `main.typ`. Files outside of the working directory cannot be read."""
    pdf = typst.compile("main.typ", root=".", format="pdf")
    assert isinstance(pdf, bytes)
    return pdf


def draw_pages() -> None:
    """Draw the pages of `main.typ`, two pixels for each point."""
    typst.compile("main.typ", output="page-{n}.png", root=".", format="png", ppi=144)


if __name__ == "__main__":
    limit(int(sys.argv[1]), int(sys.argv[2]))
    match sys.argv[3]:
        case "exec":
            os.execv(sys.argv[4], sys.argv[4:])
        case "typst":
            sys.stdout.buffer.write(compile_pdf())
        case _:
            draw_pages()
