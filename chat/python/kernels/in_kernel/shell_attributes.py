"""Runs inside a kernel: names of what hooks leave at the shell for other programs."""

from __future__ import annotations

CHANGES = "plotline_table_changes"
"""The sentences about the tables that the last cell has changed."""
