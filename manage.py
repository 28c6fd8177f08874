#!/usr/bin/env python
"""Django's command line for this project."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line

from config import databases

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if "attachments_worker" not in sys.argv:
        # A migration of a filled table may take minutes. An operator can stop it; the limit is for requests and the
        # worker.
        databases.STATEMENT_LIMIT_S = 0
    execute_from_command_line(sys.argv)
