from django.db import migrations, models

import chat.models.catalogue


class Migration(migrations.Migration):
    """Validation only; the column stays as it is."""

    dependencies = [
        ('chat', '0027_languages'),
    ]

    operations = [
        migrations.AlterField(
            model_name='languagemodel',
            name='name',
            field=models.CharField(help_text='Its id at the provider.', max_length=200, validators=[chat.models.catalogue.validate_model_name]),
        ),
    ]
