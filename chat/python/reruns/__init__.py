"""Runs blocks of code of answers again, for a person or at night.

`rerun` is the module to read first: it runs a block and stores a verdict. `recorded_runs` reads the earlier results of
the block, `notes` removes sentences of the server from them, `replay` runs the block, and `verdicts` compares the two
results. `live` shows the output meanwhile, and `rows` stores it. `nightly` runs the code of pinned conversations.
"""
