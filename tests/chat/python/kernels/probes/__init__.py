"""Attempts to escape from the sandbox, made from inside it.

A sandboxed process runs this package as a script, so it imports only the standard library and itself. An attempt that
raises OSError or MemoryError was denied; one that returns has succeeded.
"""
