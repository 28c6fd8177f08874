"""Runs inside a kernel: names of the shell's attributes with which hooks hand data to other programs."""

from __future__ import annotations

CHANGES = "plotline_table_changes"
"""`changes`: sentences about the tables that the last cell has changed. `missing_cells`: sentences about missing values
of columns that the cell names, in tables of earlier cells."""
PRIVATE = "plotline_private_texts"
"""The filter of texts with cells of private files, and the problems of these files by their versions."""
