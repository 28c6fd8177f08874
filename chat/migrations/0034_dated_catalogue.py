"""Prices and ends of models have dates, and an answer says which model gave it."""

import json
from pathlib import Path

import django.core.validators
from django.db import migrations, models

CATALOGUE = Path(__file__).with_name("0005_first_catalogue.json")
NEW = "gemini-4-neon"

NEXT_PRICES = {
    "gemini-4-argon": ("4", "20", "0.20", "; from 2026-12-01: 4, 20 and 0.20"),
    "gemini-4-carbon": ("4", "20", "0.20", "; from 2026-12-01: 4, 20 and 0.20"),
    # The price list does not name the cached price of 2027. It has been a tenth of the input price.
    "gemini-3.8-flash": ("1.50", "7.50", "0.15", "; from 2027-01-01: 1.50 and 7.50"),
    # Its cached price was not found, so cached input counts as other input.
    "gemini-3.6-flash": ("1.50", "7.50", None, "; from 2027-01-01: 1.50 and 7.50"),
}
"""Prices of input, output and cached input after `prices_until`, and the part of the note that said so."""


def add_dates(apps, schema_editor):
    """Move the next prices from the notes into columns, and add the new model. What operators have changed is kept."""
    models = apps.get_model("chat", "LanguageModel").objects.using(schema_editor.connection.alias)
    rows = {row["name"]: row for row in json.loads(CATALOGUE.read_text(encoding="utf-8"))["models"]}
    for name, (read, written, cached, note) in NEXT_PRICES.items():
        first = {field: rows[name][field] for field in ("input_price", "output_price", "prices_until")}
        for row in models.filter(provider="gemini", name=name, next_input_price=None, **first):
            row.next_input_price, row.next_output_price, row.next_cached_price = read, written, cached
            row.prices_note = row.prices_note.replace(note, "")
            row.save()
    before = models.filter(provider="gemini", name="gemini-4-carbon").first()
    if before and not models.filter(provider="gemini", name=NEW).exists():
        models.create(position=before.position + 5, functions_beside_tools=True, **rows[NEW])


def price(help_text=""):
    return models.DecimalField(
        blank=True,
        decimal_places=6,
        help_text=help_text,
        max_digits=12,
        null=True,
        validators=[django.core.validators.MinValueValidator(0)],
    )


class Migration(migrations.Migration):

    dependencies = [
        ("chat", "0033_time_zones"),
    ]

    operations = [
        migrations.AddField("languagemodel", "next_input_price", price("From the day after the last day. The price of searches stays.")),
        migrations.AddField("languagemodel", "next_output_price", price()),
        migrations.AddField("languagemodel", "next_cached_price", price("Empty: as other input.")),
        migrations.AddField(
            "languagemodel",
            "ends_on",
            models.DateField(
                "end",
                blank=True,
                help_text="From this day on another model answers in its place, or none. Empty: as its provider has published, if that is known.",
                null=True,
            ),
        ),
        migrations.AddField(
            "languagemodel",
            "successor",
            models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Id of the model that answers in its place after the end.",
                max_length=200,
            ),
        ),
        migrations.AlterField(
            "languagemodel",
            "prices_until",
            models.DateField(
                blank=True,
                help_text="The last day of these prices (UTC). After it the next ones count, or none is known.",
                null=True,
            ),
        ),
        migrations.AlterField(
            "languagemodel",
            "prices_note",
            models.CharField(blank=True, help_text="Where they were read, and what they leave out.", max_length=300),
        ),
        migrations.AddConstraint(
            "languagemodel",
            models.CheckConstraint(
                condition=models.Q(prices_until__isnull=False)
                | models.Q(next_input_price=None, next_output_price=None, next_cached_price=None),
                name="next_prices_have_a_date",
                violation_error_message="Set the last day of the current prices: the next ones count after it.",
            ),
        ),
        migrations.RunPython(add_dates, migrations.RunPython.noop),
        # Adding a column locks its table until the end of the migration. Large tables come last.
        migrations.AddField(
            "turn",
            "model_note",
            models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="Which model answered in place of the one that was asked, in a sentence. Its prices count.",
            ),
        ),
    ]
