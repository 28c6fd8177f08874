"""Conversion of text to safe HTML: markdown (whole and streamed), highlighted code, rich outputs, and Jinja fragments.

Only this package turns text into HTML that is marked as safe. It also handles graph markers and images in code output.
Read `blocks` first for Markdown, and `displays` for rich outputs: tables, formulas, pictures and JSON. All modules but
`jinja` are pure: they use no clock, network or database.
"""
