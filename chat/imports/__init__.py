"""Conversations from files: ours, ChatGPT's, notebooks. All of a file or nothing, and nothing twice.

Each source is made into drafts (`drafts`), which hold only what was checked; `storing` writes these.
"""
