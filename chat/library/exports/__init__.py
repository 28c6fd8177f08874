"""Writes conversations as files, with one module for each format (`as_html`, `as_json`, ...).

Each export is a `Download`. Its bytes are generated while they are sent, from a few messages and the bytes of one
attachment at a time, whatever the length of a conversation. Only `as_documents` makes the whole file before, up to a
limit. Read `registry` first: it lists the formats and
has the two functions that views, API and commands call. `docs/export-format.md` describes the files.
"""
