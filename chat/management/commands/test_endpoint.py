"""`manage.py test_endpoint`: says which things work with an endpoint of `openai_compatible`."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.providers.catalogue.endpoint_probe import check_endpoint
from chat.vocabulary.log_lines import escape_line


class Command(BaseCommand):
    """Does the same as the admin's button “Test this endpoint”, also for the endpoint of the settings."""

    help = "Asks an OpenAI-compatible server for its models, and one of these for a text, a function call and a colour."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", default="", help="Name of the endpoint. Empty: that of the settings.")
        parser.add_argument("--model", default="", help="The model to ask. Empty: the first one that is listed.")

    def handle(self, *args: object, name: str, model: str, **options: object) -> None:
        """Print the results. Raise CommandError if something that was tried does not work."""
        results = check_endpoint(name, model)
        for result in results:
            self.stdout.write(escape_line(f"{result.name} {result.verdict}. {result.sentence}"))
        if failed := [result.name for result in results if result.ok is False]:
            raise CommandError(f"Does not work: {', '.join(failed)}.")
