"""Reads conversations from files: exports of Plotline, ChatGPT, Claude and Gemini, and Jupyter notebooks.

Either all new conversations of a file are stored, or none; only `large_files` stores them one by one. A conversation
that is here already is not stored again: `identity` recognizes it, and `later_export` adds new messages and files of a
later export to it. Read `importer` first: it recognizes the kind of file and has the function that views, API and
commands call. One module for each source parses and checks the file into the values of `records`, and `store` writes
these to the database. No value of a file is trusted: `json_paths` checks each one, and raises RefusedImport, which
names the invalid value and its place in the file.
"""
