"""Closes the database connection of a thread that waits for something else."""

from __future__ import annotations

from django.db import connection


def close_connection(**_: object) -> None:
    """Close this thread's connection, unless a transaction is open on it. Signals can call this function.

    A thread calls it before it ends or waits for long. With PostgreSQL, the connection goes back to the pool of the
    process.
    """
    if not connection.in_atomic_block:
        connection.close()
