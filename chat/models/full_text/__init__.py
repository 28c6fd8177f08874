"""Full-text search over conversations: word splitting, query parsing, excerpts, and the index in the database.

`words` splits text into words for SQLite. `index` defines the tables, triggers and functions of both databases; on
PostgreSQL it implements the same rules in SQL.
"""
