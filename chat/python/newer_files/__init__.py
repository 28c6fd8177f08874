"""Runs all code of a conversation again with a newer file in place of an attached one. The conversation stays the same.

`run` is the module to read first: it runs the code in a new kernel, so the messages, their results and the
Python session stay as they are. `start` compares the two tables before anything runs, `numbers` finds the numbers of
answers that are not in the new results, and `rows` stores the run and its results.
"""
