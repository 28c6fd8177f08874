"""Runs inside a kernel: names of the shell's attributes that hold data for later programs."""

from __future__ import annotations

CHANGES = "plotline_table_changes"
"""A dictionary. `changes`: sentences about tables that the last cell has changed. `missing_cells`: sentences about
missing values of columns that the cell names, in tables of earlier cells."""
PRIVATE = "plotline_private_texts"
"""The `PrivateFilter`, which knows the cells of the private files, or why a file could not be read."""
