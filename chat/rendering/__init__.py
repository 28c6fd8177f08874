"""Conversion of text to safe HTML: markdown (whole and streamed), highlighted code, and Jinja fragments.

Only this package turns text into HTML that is marked as safe. It also handles graph markers and images in code output.
The modules for markdown, code, markers and images are pure: they use no clock, network or database.
"""
