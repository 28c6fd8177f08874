"""Makes a provider's request from a conversation's rows. Read `history` first.

`rows` reads the rows of many turns at once; `replay` says how much of earlier answers is sent again; `context_window`
drops the oldest messages of a conversation that is too long; `provider_files` decides how files are sent;
`instructions` makes the system instruction; `intent` decides whether a question is better answered with code.
"""
