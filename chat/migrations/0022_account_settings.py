
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0021_temporary_conversations'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='default_approval',
            field=models.CharField(db_default='always', choices=[('always', 'without asking'), ('ask', 'after you have approved it')], default='always', help_text='Of new conversations.', max_length=6),
        ),
        migrations.AddField(
            model_name='user',
            name='default_code_execution',
            field=models.CharField(db_default='auto', choices=[('auto', 'when the question asks for it'), ('on', 'always'), ('off', 'never')], default='auto', help_text='Of new conversations.', max_length=4),
        ),
        migrations.AddField(
            model_name='user',
            name='default_engine',
            field=models.CharField(db_default='auto', choices=[('auto', "at the model's service; in the Python session if it has to"), ('native', "at the model's service"), ('session', 'in the Python session')], default='auto', help_text='Of new conversations.', max_length=7),
        ),
        migrations.AddField(
            model_name='user',
            name='default_model',
            field=models.CharField(db_default='', default='', blank=True, help_text="Of new conversations. Empty: the server's default model.", max_length=200),
        ),
        migrations.AddField(
            model_name='user',
            name='deletion_at',
            field=models.DateTimeField(blank=True, db_index=True, help_text='When the account is deleted. Empty: it is kept.', null=True),
        ),
        migrations.AddField(
            model_name='user',
            name='display_name',
            field=models.CharField(db_default='', default='', blank=True, help_text='Empty: the username is shown.', max_length=100),
        ),
        migrations.AddField(
            model_name='user',
            name='instruction',
            field=models.TextField(db_default='', default='', blank=True, help_text='Sent to the model in all conversations of this person.', max_length=4000),
        ),
        migrations.AddField(
            model_name='user',
            name='theme',
            field=models.CharField(db_default='system', choices=[('system', 'as the device'), ('light', 'light'), ('dark', 'dark')], default='system', max_length=6),
        ),
    ]
