from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0003_chain_of_messages'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('index', 0), ('parent__isnull', True)), models.Q(('index__gt', 0), ('parent__isnull', False)), _connector='OR'), name='first_messages_follow_none'),
        ),
    ]
