"""`manage.py gemini_emulator`: run the Gemini emulator by hand."""

from __future__ import annotations

import argparse

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from chat.emulator.command_line import add_arguments, run


class Command(BaseCommand):
    """Runs the emulator. Set GOOGLE_GEMINI_BASE_URL to the address that it prints."""

    help = "Serve Gemini's wire protocol on loopback, with a demo model that runs code."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options of `python -m chat.emulator`."""
        add_arguments(parser, settings.KERNEL_SERVICE_DIR)

    def handle(self, *args: object, **options: object) -> None:
        """Serve until SIGINT or SIGTERM."""
        run(argparse.Namespace(**options))
