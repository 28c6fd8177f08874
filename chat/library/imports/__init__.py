"""Reads conversations from files: exports of Plotline, exports of ChatGPT, and Jupyter notebooks.

A file is imported completely or not at all, and a conversation that was imported before is not imported again. Read
`importer` first: it recognizes the kind of file and has the function that views, API and commands call. One module for
each source parses and checks the file into the values of `records`, and `store` writes these to the database. No value
of a file is trusted: `json_paths` checks each one, and its errors name the place in the file.
"""
