"""Whether conversations search the web, what searches cost, and which models take functions beside their own tools."""

import tomllib
from pathlib import Path

import django.core.validators
from django.db import migrations, models

INSTRUCTIONS = Path(__file__).parent.parent / "answering" / "prompt" / "instructions.toml"

SEARCH_PRICE = "14"
"""US dollars per thousand search queries, as published for Gemini 3; 5,000 requests a month are free."""

PRICED_MODELS = r"^gemini-(3[.-]|4-argon$)"
"""The models for which this price was found. For others it is not known, such as names that stand for the newest model."""

DESCRIPTIONS = {
    "flash": (
        "For most questions: quick, and runs code.",
        "For most questions: quick, searches the web, and runs code.",
    ),
    "pro": (
        "The strongest model, thinking little: for hard questions.",
        "The strongest model, thinking little: for hard questions. Searches the web, and runs code.",
    ),
}
"""The descriptions of the first presets, before and after."""


def add_facts(apps, schema_editor):
    """Add the facts about the first models, and let the first presets search. What operators have changed is kept."""
    using = schema_editor.connection.alias
    models_of_gemini = apps.get_model("chat", "LanguageModel").objects.using(using).filter(provider="gemini")
    # The first models that run code are of Gemini 3 and later. Earlier ones that an operator has added refuse both.
    later = models_of_gemini.filter(code_execution=True).exclude(name__regex=r"^gemini-[12]\.")
    later.update(functions_beside_tools=True)
    priced = later.filter(name__regex=PRICED_MODELS, web_search=True, search_price=None)
    priced.update(search_price=SEARCH_PRICE)
    presets = apps.get_model("chat", "Preset").objects.using(using)
    for slug, (before, after) in DESCRIPTIONS.items():
        presets.filter(slug=slug, description=before).update(description=after, web_search=True, url_context=True)


def fill_instruction(apps, schema_editor):
    """Operators who have texts of their own get the new default text."""
    using = schema_editor.connection.alias
    text = tomllib.loads(INSTRUCTIONS.read_text(encoding="utf-8")).get("both_engines", "").strip()
    apps.get_model("chat", "Instruction").objects.using(using).update(both_engines=text)


class Migration(migrations.Migration):

    dependencies = [
        ("chat", "0011_tool_parts"),
    ]

    operations = [
        migrations.AddField(
            model_name="languagemodel",
            name="functions_beside_tools",
            field=models.BooleanField(db_default=False,
                default=False,
                help_text="It takes functions in requests that also name tools of its service, such as code execution.",
            ),
        ),
        migrations.AddField(
            model_name="languagemodel",
            name="search_price",
            field=models.DecimalField(
                blank=True,
                decimal_places=6,
                help_text="US dollars per thousand web searches.",
                max_digits=12,
                null=True,
                validators=[django.core.validators.MinValueValidator(0)],
            ),
        ),
        migrations.AddField(
            model_name="instruction",
            name="both_engines",
            field=models.TextField(db_default='', default='',
                blank=True,
                help_text="When the answer may run code at the model's service, and in the Python session too.",
            ),
        ),
        migrations.AlterField(
            model_name="languagemodel",
            name="web_search",
            field=models.BooleanField(
                default=False,
                help_text="It can search the web; it does where a preset or a conversation lets it, as searches cost extra.",
            ),
        ),
        migrations.AlterField(
            model_name="languagemodel",
            name="url_context",
            field=models.BooleanField(
                default=False,
                help_text="It can read pages whose address it is given; it does where a preset or a conversation lets it.",
            ),
        ),
        migrations.RunPython(add_facts, migrations.RunPython.noop),
        migrations.RunPython(fill_instruction, migrations.RunPython.noop),
        # Adding a column locks its table until the end of the migration. Large tables come last.
        migrations.AddField(
            model_name="conversation",
            name="web_search",
            field=models.CharField(db_default='auto',
                choices=[("auto", "as the chosen preset does"), ("on", "when it helps the answer"), ("off", "never")],
                default="auto",
                help_text="Whether answers may search the web and read web pages, if their model can.",
                max_length=4,
            ),
        ),
    ]
