"""Curves as SVG files, the same bytes for the same figures, without scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from bench.curves import Curve

#: The ids in a file come from the salt, its texts stay texts, and it bears no date.
STYLE: Any = {"svg.hashsalt": "plotline", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10}


def draw(curve: Curve, folder: Path) -> Path:
    """Draw it on logarithmic axes, beside a dashed line that grows linearly from its last point; where it is."""
    sizes, costs = zip(*curve.points, strict=True)
    with rc_context(STYLE):
        figure = Figure(figsize=(6, 3.6))
        axes = figure.subplots()
        axes.loglog(sizes, costs, marker="o", color="#1f6f5c", label=f"measured, exponent {curve.exponent:.2f}")
        linear = [costs[-1] * size / sizes[-1] for size in sizes]
        axes.loglog(sizes, linear, linestyle="--", color="#888888", label="linear")
        axes.set_ylim(bottom=min(costs) / 2, top=max(costs) * 2)
        axes.set(title=curve.title, xlabel=curve.size, ylabel=curve.cost)
        axes.grid(visible=True, which="major", color="#dddddd")
        axes.legend(frameon=False)
        figure.tight_layout()
        path = folder / f"{curve.name}.svg"
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    return path
