"""Runs inside a kernel: names of what hooks leave at the shell for other programs."""

from __future__ import annotations

CHANGES = "plotline_table_changes"
"""`changes`: sentences about the tables that the last cell has changed. `missing_cells`: those about missing cells of
columns that it names, in tables of earlier cells.
"""
PRIVATE = "plotline_private_texts"
"""The filter of texts with cells of private files, and the problems of these files by their versions."""
