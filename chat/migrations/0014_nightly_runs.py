from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0013_release'),
    ]

    operations = [
        migrations.AddField(
            model_name='conversation',
            name='nightly',
            field=models.BooleanField(blank=True, help_text='Whether all its code runs again each night, while it is pinned.', null=True),
        ),
        migrations.AddField(
            model_name='conversation',
            name='nightly_at',
            field=models.DateTimeField(blank=True, help_text='When the last nightly run began.', null=True),
        ),
        migrations.AddField(
            model_name='conversation',
            name='nightly_result',
            field=models.JSONField(blank=True, help_text='What it has shown: `verdict` and `detail`.', null=True),
        ),
    ]
