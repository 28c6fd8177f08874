"""Search over conversations, but for the rows: what a word is, what is looked for, and the database's index.

`words` says how text becomes words, for SQLite; `index` makes the same in PostgreSQL's own terms, and asks either.
"""
