"""Conversations as files: one module per format, each a download whose bytes are made while they are sent.

Whatever the length of a conversation, an export holds a few messages and the bytes of one attachment at a time.
"""
