"""Runs programs of the demo model with the kernel's Python, and returns what they printed and drew.

One process imports the packages, and forks for each line of JSON with a folder and a list of programs. A graph is
described by the data of its artists, so that a test can compare it with its own computation.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from chat.python.kernels.interpreter import find_interpreter
from tests.child_processes import tied

RUNNER = """
import contextlib, io, json, os, sys, traceback, warnings
import matplotlib, pandas
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle, Wedge

figures = []

def show():
    for axes in plt.gcf().axes:
        bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
        figures.append({
            "lines": [[[float(x) for x in line.get_xdata(orig=False)], [float(y) for y in line.get_ydata(orig=False)]]
                      for line in axes.lines if len(line.get_xdata()) > 2 or line.get_marker() != "None"],
            "bars": [float(bar.get_height()) for bar in bars],
            "labels": [text.get_text() for text in axes.get_xticklabels()],
            "slices": [patch.theta2 - patch.theta1 for patch in axes.patches if isinstance(patch, Wedge)],
            "points": sum(len(one.get_offsets()) for one in axes.collections if hasattr(one, "get_offsets")),
        })
    plt.close("all")

plt.show = show
def run(files, program):
    for name, text in files.items():
        with open(name, "wb") as file:
            file.write(text.encode("latin-1"))
    figures.clear()
    out, error = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(program, "program", "exec"), {"__name__": "__main__"})
        except Exception:
            error = traceback.format_exc()
    plt.close("all")
    return {"text": out.getvalue(), "error": error, "figures": list(figures)}

for line in sys.stdin:
    if child := os.fork():
        if os.waitpid(child, 0)[1]:
            print("the process ended", flush=True)
    else:
        folder, programs = json.loads(line)
        os.chdir(folder)
        print(json.dumps([run(*program) for program in programs]), flush=True)
        os._exit(0)
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """The data of one graph."""

    lines: Sequence[tuple[Sequence[float], Sequence[float]]]
    bars: Sequence[float]
    labels: Sequence[str]
    slices: Sequence[float]
    points: int


@dataclass(frozen=True, slots=True)
class Result:
    """The output and the figures of a program."""

    text: str
    error: str
    figures: Sequence[Figure]

    @property
    def printed(self) -> Mapping[str, str]:
        """The values that were printed as `name: value`."""
        return dict(re.findall(r"^(\w[\w ]*): (.+)$", self.text, re.MULTILINE))

    def number(self, name: str) -> float:
        """Return a printed number."""
        return float(self.printed[name].split(",")[0].split(" ")[0])


@cache
def runner() -> subprocess.Popen[str]:
    """Start the process that forks. It ends with this one."""
    process = subprocess.Popen(
        tied([find_interpreter().executable, "-c", RUNNER]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "MPLCONFIGDIR": os.environ["PLOTLINE_VAR_DIR"]},
    )
    atexit.register(process.communicate)
    return process


def run_programs(programs: Sequence[tuple[Mapping[str, bytes], str]], folder: Path) -> list[Result]:
    """Run programs, each with its files, in one process in this folder. Dates are days in the data of graphs."""
    request = [({name: data.decode("latin-1") for name, data in files.items()}, program) for files, program in programs]
    process = runner()
    assert process.stdin
    assert process.stdout
    print(json.dumps([str(folder), request]), file=process.stdin, flush=True)
    return [
        Result(one["text"], one["error"], [Figure(**figure) for figure in one["figures"]])
        for one in json.loads(process.stdout.readline())
    ]
