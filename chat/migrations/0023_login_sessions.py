"""Browser sessions get a table with their users. The logins of before are copied, so that nobody has to log in again.

The rows of the old table are left to servers of the version before, which may still run. Nothing else reads them.
"""

from datetime import timedelta

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import migrations, models

BATCH_ROWS = 500
SESSION_AGE = timedelta(seconds=settings.SESSION_COOKIE_AGE)


def copy_sessions(apps, schema_editor):
    Session, LoginSession = apps.get_model("sessions", "Session"), apps.get_model("chat", "LoginSession")
    users = set(apps.get_model("chat", "User").objects.values_list("pk", flat=True))
    rows = []
    for session in Session.objects.filter(expire_date__gt=django.utils.timezone.now()).iterator():
        user_id = SessionStore().decode(session.session_data).get(SESSION_KEY)
        if user_id is not None and int(user_id) in users:
            rows.append(
                LoginSession(
                    session_key=session.session_key,
                    session_data=session.session_data,
                    expire_date=session.expire_date,
                    user_id=int(user_id),
                    # The old table does not tell when. This is when the session was last saved.
                    logged_in_at=session.expire_date - SESSION_AGE,
                )
            )
    LoginSession.objects.bulk_create(rows, batch_size=BATCH_ROWS)


class Migration(migrations.Migration):

    dependencies = [
        ("sessions", "0001_initial"),
        ("chat", "0022_account_settings"),
    ]

    operations = [
        migrations.CreateModel(
            name='LoginSession',
            fields=[
                ('session_key', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='session key')),
                ('session_data', models.TextField(verbose_name='session data')),
                ('expire_date', models.DateTimeField(db_index=True, verbose_name='expire date')),
                ('user_agent', models.CharField(blank=True, help_text='What the browser said of itself at the login.', max_length=300)),
                ('logged_in_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('used_at', models.DateTimeField(default=django.utils.timezone.now, help_text='Accurate to ten minutes.')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='login_sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-used_at'],
            },
        ),
        migrations.RunPython(copy_sessions, migrations.RunPython.noop),
    ]
