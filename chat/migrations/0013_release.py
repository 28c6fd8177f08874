"""Adds the settings that say whether models get results without asking.

Django would make SQLite's tables anew. That of conversations would lose its triggers, and that of users its last id.
Both databases can add a column with a default in place.
"""

from django.db import migrations, models

CHOICES = [('auto', 'without asking'), ('ask', 'after you have released it')]
COLUMNS = [('conversation', 'release'), ('user', 'default_release')]


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0012_private_data'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    f"""ALTER TABLE chat_{table} ADD COLUMN "{name}" varchar(4) DEFAULT 'auto' NOT NULL""",
                    f'ALTER TABLE chat_{table} DROP COLUMN "{name}"',
                )
                for table, name in COLUMNS
            ],
            state_operations=[
                migrations.AddField(
                    model_name='conversation',
                    name='release',
                    field=models.CharField(choices=CHOICES, db_default='auto', default='auto', help_text='Whether models get results without asking.', max_length=4),
                ),
                migrations.AddField(
                    model_name='user',
                    name='default_release',
                    field=models.CharField(choices=CHOICES, db_default='auto', default='auto', help_text='Of new conversations.', max_length=4),
                ),
            ],
        ),
    ]
