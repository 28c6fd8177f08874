#!/usr/bin/env python
"""Django's command line for this project."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # A migration of a filled table may take minutes. An operator can stop it; the limit is for requests. The
    # environment, of Compose or systemd, may set the variable for the web server.
    os.environ["DATABASE_STATEMENT_LIMIT_S"] = "0"
    execute_from_command_line(sys.argv)
