"""When the log of an ended turn is deleted."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0016_operators_see_object_deletions'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='log_kept_until',
            field=models.DateTimeField(blank=True, help_text='When the log of the ended turn is deleted. Empty: it has none, or cannot be read.', null=True),
        ),
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(condition=models.Q(('log_kept_until__isnull', False)), fields=['log_kept_until'], name='ended_turns_with_log'),
        ),
    ]
