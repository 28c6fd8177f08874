"""Conversion of text to safe HTML: markdown (whole and streamed), highlighted code, rich outputs, and Jinja fragments.

Only this package turns text into HTML that is marked as safe. Read `blocks` first for Markdown, and `displays` for rich
outputs: tables, formulas, pictures and JSON. No module uses a network or the database.
"""
