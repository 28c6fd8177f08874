"""Writes conversations as files, with one module for each format (`as_html`, `as_json`, ...).

Each export is a `Download`, whose bytes are generated while they are sent. Whatever the length of a conversation, an
export holds a few messages and the bytes of one attachment in memory. Read `registry` first: it lists the formats and
has the two functions that views, API and commands call. `docs/export-format.md` describes the files.
"""
