"""Reads conversations from files: exports of Plotline, ChatGPT, Claude and Gemini, and Jupyter notebooks.

The new conversations of a file are stored completely or not at all. A conversation that is here already is not stored
again: `identity` recognizes it, and `continuation` adds what a later file has of it, for each conversation alone. Read
`importer` first: it recognizes the kind of file and has the function that views, API and commands call. One module for
each source parses and checks the file into the values of `records`, and `store` writes these to the database. No value
of a file is trusted: `json_paths` checks each one, and its errors name the place in the file.
"""
