"""A newer file in place of an attached one: all code of a conversation runs again on it, beside the conversation.

`run` is the module to read first: it runs the code in a kernel of its own, so the messages, their results and the
Python session stay as they are. `start` compares the two tables before anything runs, `numbers` finds the numbers of
answers that are not in the new results, and `rows` stores all of it.
"""
