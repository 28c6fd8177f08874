"""The HTTP status of a failed turn. Servers of the earlier version go on: the column may be empty."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0031_session_beside_engine'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='error_status',
            field=models.PositiveSmallIntegerField(blank=True, help_text="The HTTP status of the provider's response.", null=True),
        ),
    ]
