"""Runs the `main` of a module after Django's setup: `python -m bench.with_django MODULE ARGUMENT ...`.

A module that imports models cannot be run directly, because models can be imported only after the setup.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

import django

from config import databases

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # Benchmarks fill large tables, as migrations do.
    databases.STATEMENT_LIMIT_S = 0
    django.setup()
    import_module(sys.argv[1]).main(*sys.argv[2:])
