"""Time zones of people, and of turns. Servers of the earlier version go on: the columns have defaults."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0032_status_of_errors'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='time_zone',
            field=models.CharField(blank=True, db_default='', default='', help_text='Of the person, as the turn started: every round tells the model the same time.', max_length=64),
        ),
        migrations.AddField(
            model_name='user',
            name='time_zone',
            field=models.CharField(blank=True, db_default='', default='', help_text='Of the browser, by its IANA name. Models are told the time there. Empty: not known.', max_length=64),
        ),
    ]
