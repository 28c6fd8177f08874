"""What the request of a round said about the tools. Servers of the earlier version go on: the database has the default."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0028_names_of_models'),
    ]

    operations = [
        migrations.AddField(
            model_name='round',
            name='state',
            field=models.TextField(blank=True, db_default='', default='', help_text='What the request said about the tools: variables and files.'),
        ),
    ]
