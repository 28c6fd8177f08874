"""Text to safe HTML, all of it pure: markdown (whole and streamed), code, graph markers, images inside output.

The only package that marks HTML safe. Nothing here reads a clock, a network or a database.
"""
