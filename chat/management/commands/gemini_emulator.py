"""`manage.py gemini_emulator`: the Gemini emulator by hand, on a port of one's choice."""

from __future__ import annotations

import argparse

from django.core.management.base import BaseCommand, CommandParser

from chat.emulator.arguments import add_arguments, run


class Command(BaseCommand):
    """Serves Gemini's wire protocol; point GOOGLE_GEMINI_BASE_URL at it."""

    help = "Serve Gemini's wire protocol on loopback: a demo model that runs code, scenarios and replays."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The same arguments as `python -m chat.emulator`."""
        add_arguments(parser)

    def handle(self, *args: object, **options: object) -> None:
        """Serve until interrupted."""
        run(argparse.Namespace(**options))
