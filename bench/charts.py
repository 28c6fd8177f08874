"""Draws curves as SVG files. The same figures give the same bytes, and the files contain no scripts."""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from bench.curves import Curve


def draw_curve(curve: Curve, folder: Path) -> Path:
    """Draw a curve on logarithmic axes with a linear reference line, and return the path of the file."""
    sizes, costs = zip(*curve.points, strict=True)
    # The salt makes element ids reproducible, and `fonttype` keeps text as text.
    style = rc_context(
        {"svg.hashsalt": "plotline", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10}
    )
    with style:
        figure = Figure(figsize=(6, 3.6))
        axes = figure.subplots()
        axes.loglog(sizes, costs, marker="o", color="#1f6f5c", label=f"measured, exponent {curve.exponent:.2f}")
        linear_costs = [costs[-1] * size / sizes[-1] for size in sizes]
        axes.loglog(sizes, linear_costs, linestyle="--", color="#888888", label="linear")
        axes.set_ylim(bottom=min(costs) / 2, top=max(costs) * 2)
        axes.set(title=curve.title, xlabel=curve.size, ylabel=curve.cost)
        axes.grid(visible=True, which="major", color="#dddddd")
        axes.legend(frameon=False)
        figure.tight_layout()
        path = folder / f"{curve.name}.svg"
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    return path
