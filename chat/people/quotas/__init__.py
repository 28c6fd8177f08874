"""Quotas: how much one person may use in a day, and how much they may store.

`resources.py` defines what is limited and the sentence of each refusal; it is pure. `usage.py` reads and changes the
counters of a person in the database, which all server processes share. `enforcement.py` refuses what exceeds a quota.

The limits for everyone are settings (`QUOTAS`). A `Quota` row changes them for a person or for a group.
"""
