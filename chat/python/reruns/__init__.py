"""Blocks of code of an answer that a person runs again.

`rerun` is the module to read first: it runs a block and stores a verdict. `recorded_runs` reads what the block gave
before, `notes` removes sentences of the server from it, `replay` runs it, and `verdicts` compares the two. `live`
shows its output meanwhile, and `rows` stores it. `nightly` runs the code of pinned conversations.
"""
