"""The benchmark of reading OpenAI-compatible streams: CPU time per chunk; `python -m bench openai`.

Three readers read the same stream in one process, in turn: Plotline's, the `create` of the package openai, and its
helper `stream`. Plotline's figure includes making stream events; the others end with the package's own objects.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.processes import build_product_environment
from bench.product import run_python
from bench.tables import format_markdown_table
from bench.targets import run_upstream


def main(argv: Sequence[str]) -> None:
    """Measure the readers, and print a table."""
    with TemporaryDirectory(prefix="plotline-bench-") as folder, run_upstream(Path(folder)) as upstream:
        variables = build_product_environment(DEBUG="1", PLOTLINE_VAR_DIR=folder)
        output = run_python(variables, "-m", "bench.with_django", "bench.openai_costs", f"{upstream.url}/v1")
    costs: dict[str, float] = json.loads(output)
    rows = [("reader", "CPU per chunk, us", "of Plotline's")]
    rows += [(name, f"{cost:.1f}", f"{cost / costs['Plotline']:.2f}") for name, cost in costs.items()]
    print(format_markdown_table(rows))
