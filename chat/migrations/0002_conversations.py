import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('attachments', '0001_initial'),
        ('chat', '0001_user'),
    ]

    operations = [
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(blank=True, max_length=200)),
                ('title_source', models.CharField(choices=[('words', 'its first words'), ('model', 'a model'), ('user', 'its owner')], default='words', help_text="A title made of the first words may be replaced by a model's.", max_length=5)),
                ('model', models.CharField(blank=True, help_text="Empty: the server's default model.", max_length=200)),
                ('code_execution', models.CharField(choices=[('auto', 'when the question asks for it'), ('on', 'always'), ('off', 'never')], default='auto', max_length=4)),
                ('system_instruction', models.TextField(blank=True)),
                ('side_tokens', models.PositiveBigIntegerField(default=0, help_text='Tokens of requests beside turns: the one for its title.')),
                ('side_cost', models.DecimalField(blank=True, decimal_places=8, help_text='US dollars.', max_digits=14, null=True)),
                ('revision', models.PositiveBigIntegerField(default=0, help_text='Counts changes of the list of messages, so that a page can tell that it is outdated.')),
                ('archived_at', models.DateTimeField(blank=True, help_text='When its owner archived it. Empty: it is in use.', null=True)),
                ('pinned_at', models.DateTimeField(blank=True, help_text='When its owner pinned it. Empty: it is not pinned.', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='conversations', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-updated_at'],
            },
        ),
        migrations.CreateModel(
            name='Label',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40, unique=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text="What the token is for, in its owner's words.", max_length=100)),
                ('digest', models.CharField(help_text='SHA-256 of the token, in hex.', max_length=64, unique=True)),
                ('prefix', models.CharField(help_text='First characters of the token, by which its owner recognises it.', max_length=20)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(blank=True, help_text='Empty: the token never expires.', null=True)),
                ('last_used_at', models.DateTimeField(blank=True, help_text='Accurate to a minute.', null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='AccessEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reader_name', models.CharField(help_text="The reader's name at the time of the access.", max_length=150)),
                ('conversation_title', models.CharField(blank=True, help_text='The title at the time of the access.', max_length=200)),
                ('action', models.CharField(choices=[('read', 'read'), ('file', 'opened a file'), ('exported', 'exported')], max_length=8)),
                ('detail', models.CharField(blank=True, help_text='The name of the file, or the kind of page.', max_length=255)),
                ('reason', models.CharField(blank=True, help_text="In the reader's words.", max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('reader', models.ForeignKey(db_constraint=False, db_index=False, help_text='The account may have been deleted since.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('conversation', models.ForeignKey(db_constraint=False, help_text='The conversation may have been deleted since.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='chat.conversation')),
            ],
            options={
                'verbose_name': 'line of the access log',
                'verbose_name_plural': 'access log',
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='ImportedConversation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(help_text='SHA-256 in hex of the unique id in the file, or of the content if there is none.', max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='imported', to='chat.conversation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Instruction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('general', models.TextField(blank=True, help_text='Always.')),
                ('code_execution', models.TextField(blank=True, help_text='When the answer may run code.')),
                ('web_search', models.TextField(blank=True, help_text='When the answer may search the web.')),
                ('image_output', models.TextField(blank=True, help_text='When the model answers with images.')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='one_instruction')],
            },
        ),
        migrations.CreateModel(
            name='LanguageModel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(default='gemini', help_text='One of CHAT_PROVIDERS.', max_length=50)),
                ('endpoint', models.CharField(blank=True, help_text='Which server of the provider. Empty: the one that the settings describe.', max_length=50)),
                ('name', models.CharField(help_text='Its id at the provider.', max_length=200)),
                ('label', models.CharField(blank=True, help_text='What people see; empty: its id.', max_length=100)),
                ('description', models.CharField(blank=True, help_text='When to choose it, in one sentence.', max_length=200)),
                ('is_enabled', models.BooleanField(default=True, help_text='Whether people may choose it.')),
                ('position', models.IntegerField(default=0, help_text='Order in lists, lowest first.')),
                ('code_execution', models.BooleanField(default=False, help_text='It can run Python itself.')),
                ('web_search', models.BooleanField(default=False, help_text='It can search the web; it does where a preset lets it, as searches cost extra.')),
                ('url_context', models.BooleanField(default=False, help_text='It can read pages whose address it is given; it does where a preset lets it.')),
                ('image_output', models.BooleanField(default=False, help_text='It answers with images.')),
                ('thinking_level', models.CharField(blank=True, choices=[('minimal', 'minimal'), ('low', 'low'), ('medium', 'medium'), ('high', 'high'), ('xhigh', 'extra high')], max_length=10)),
                ('thinking_budget', models.IntegerField(blank=True, help_text='Tokens. 0: off. -1: the model decides.', null=True, validators=[django.core.validators.MinValueValidator(-1)])),
                ('temperature', models.FloatField(blank=True, help_text='Empty for models that take none: newer ones.', null=True)),
                ('max_output_tokens', models.PositiveIntegerField(blank=True, help_text="Empty: the model's own limit.", null=True)),
                ('context_tokens', models.PositiveIntegerField(blank=True, help_text='What it can read, in tokens; of longer conversations the oldest is left out.', null=True)),
                ('input_price', models.DecimalField(blank=True, decimal_places=6, help_text='US dollars per million tokens read.', max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ('output_price', models.DecimalField(blank=True, decimal_places=6, help_text='US dollars per million tokens written.', max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ('cached_price', models.DecimalField(blank=True, decimal_places=6, help_text='US dollars per million tokens read from cache; empty: as other input.', max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ('prices_until', models.DateField(blank=True, help_text='The last day of these prices; after it they count as not known.', null=True)),
                ('prices_note', models.CharField(blank=True, help_text='Where they were read, what follows them, what they leave out.', max_length=300)),
                ('makes_titles', models.BooleanField(default=False, help_text='The first such model names conversations. If there is none, their first words do.')),
                ('listed_at', models.DateTimeField(blank=True, help_text='When the provider last listed it.', null=True)),
                ('missing_since', models.DateTimeField(blank=True, help_text='Since when the provider answers that it has no such model.', null=True)),
            ],
            options={
                'ordering': ['position', 'name'],
                'constraints': [models.UniqueConstraint(fields=('provider', 'endpoint', 'name'), name='one_model_per_name'), models.CheckConstraint(condition=models.Q(('thinking_level', ''), ('thinking_budget__isnull', True), _connector='OR'), name='model_level_or_budget', violation_error_message='Set a thinking level or a thinking budget, not both: the API refuses a request that names both.')],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('index', models.PositiveIntegerField(help_text='Position on its path, from 0.')),
                ('is_shown', models.BooleanField(default=True, help_text='Whether the message is on the path that is shown and continued. Other versions are not.')),
                ('last_shown', models.PositiveBigIntegerField(default=0, help_text="The conversation's revision when the message was last shown.")),
                ('role', models.CharField(choices=[('user', 'user'), ('model', 'model')], max_length=5)),
                ('text', models.TextField(blank=True, help_text='The text parts joined; `[GRAPH:n]` stands on a line of its own where attachment n was drawn.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='chat.conversation')),
                ('parent', models.ForeignKey(blank=True, help_text='The message that this one follows.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='chat.message')),
            ],
            options={
                'ordering': ['conversation', 'index'],
            },
        ),
        migrations.CreateModel(
            name='Feedback',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_good', models.BooleanField()),
                ('reason', models.TextField(blank=True, help_text="In the user's own words; empty if the user gave none.", max_length=1000)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to=settings.AUTH_USER_MODEL)),
                ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to='chat.message')),
            ],
            options={
                'verbose_name_plural': 'feedback',
                'ordering': ['-updated_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='MessageAttachment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('index', models.PositiveIntegerField()),
                ('part_index', models.PositiveIntegerField(blank=True, help_text="The part after which it is shown. Empty: at the message's end.", null=True)),
                ('attachment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='message_attachments', to='attachments.attachment')),
                ('message', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='message_attachments', to='chat.message')),
            ],
            options={
                'ordering': ['message', 'index'],
            },
        ),
        migrations.CreateModel(
            name='Part',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('index', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('text', 'text'), ('thought', 'thought'), ('executable_code', 'executable_code'), ('code_execution_result', 'code_execution_result'), ('inline_data', 'inline_data'), ('file_data', 'file_data'), ('function_call', 'function_call'), ('function_response', 'function_response'), ('display', 'display'), ('unsupported', 'unsupported')], max_length=30)),
                ('text', models.TextField(blank=True, help_text="The part's text, code or output.", null=True)),
                ('data', models.JSONField(blank=True, default=dict, help_text="The part's other fields, as `part_to_json` writes them.")),
                ('attachment', models.ForeignKey(blank=True, help_text='Bytes of inline_data.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='attachments.attachment')),
                ('message', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='chat.message')),
            ],
            options={
                'ordering': ['message', 'index'],
            },
        ),
        migrations.CreateModel(
            name='Preset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(help_text='Its name in addresses and the API.', unique=True)),
                ('label', models.CharField(max_length=100)),
                ('description', models.CharField(blank=True, help_text='When to choose it, in one sentence.', max_length=200)),
                ('is_enabled', models.BooleanField(default=True, help_text='Whether people may choose it.')),
                ('position', models.IntegerField(default=0, help_text='Order in lists, lowest first.')),
                ('thinking_level', models.CharField(blank=True, choices=[('minimal', 'minimal'), ('low', 'low'), ('medium', 'medium'), ('high', 'high'), ('xhigh', 'extra high')], max_length=10)),
                ('thinking_budget', models.IntegerField(blank=True, help_text='Tokens. 0: off. -1: the model decides.', null=True, validators=[django.core.validators.MinValueValidator(-1)])),
                ('code_execution', models.BooleanField(default=True, help_text='It may run code, if its model can.')),
                ('web_search', models.BooleanField(default=False, help_text='It searches the web, if its model can.')),
                ('url_context', models.BooleanField(default=False, help_text='It reads given addresses, if its model can.')),
                ('instruction', models.TextField(blank=True, help_text='An additional instruction for the model.')),
                ('language_model', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='presets', to='chat.languagemodel')),
            ],
            options={
                'ordering': ['position', 'label'],
            },
        ),
        migrations.CreateModel(
            name='ProviderFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.CharField(help_text='Digest of the provider, address and key that it belongs to.', max_length=64)),
                ('uri', models.TextField()),
                ('mime_type', models.CharField(help_text='The type under which the provider accepts it.', max_length=100)),
                ('expires_at', models.DateTimeField()),
                ('attachment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='provider_files', to='attachments.attachment')),
            ],
        ),
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('status', models.CharField(choices=[('queued', 'waiting to start'), ('running', 'running'), ('waiting', 'waiting for a decision'), ('done', 'done'), ('stopped', 'stopped by the user'), ('failed', 'failed'), ('interrupted', 'interrupted')], default='queued', max_length=12)),
                ('client_id', models.CharField(blank=True, help_text='Chosen by the client. A repeated one starts no second turn.', max_length=64, null=True)),
                ('provider', models.CharField(max_length=50)),
                ('endpoint', models.CharField(blank=True, help_text='Which server of the provider. Empty: the one that the settings describe.', max_length=50)),
                ('account', models.CharField(blank=True, help_text='Whose signatures the parts bear; see the provider.', max_length=64)),
                ('model', models.CharField(max_length=200)),
                ('code_mode', models.CharField(choices=[('auto', 'when the question asks for it'), ('on', 'always'), ('off', 'never')], default='auto', help_text="What was asked for: the conversation's setting, or this message's own.", max_length=4)),
                ('code_execution', models.BooleanField(default=False, help_text='Whether the model was offered code execution.')),
                ('code_reason', models.TextField(blank=True, help_text='Why, in a sentence.')),
                ('chosen', models.JSONField(blank=True, default=dict, help_text='What was chosen for this turn alone; other versions of the answer use it too.')),
                ('parameters', models.JSONField(blank=True, default=dict, help_text='The settings of the model; see `Setup`.')),
                ('left_out', models.PositiveIntegerField(default=0, help_text='Oldest messages that were not sent, as the conversation is longer than the model reads.')),
                ('lease_owner', models.CharField(blank=True, help_text='The process that runs it.', max_length=64)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('stop_requested', models.BooleanField(default=False)),
                ('usage', models.JSONField(blank=True, default=dict, help_text='Token counts of all rounds together.')),
                ('cost', models.DecimalField(blank=True, decimal_places=8, help_text='US dollars. Empty: no price is known.', max_digits=14, null=True)),
                ('round_count', models.PositiveIntegerField(default=0, help_text='Number of rounds, once the turn has ended.')),
                ('finish', models.CharField(blank=True, help_text='Why the last round ended; see `Finish`.', max_length=30)),
                ('finish_reason', models.TextField(blank=True, help_text="The provider's own word for it.")),
                ('finish_message', models.TextField(blank=True)),
                ('error_code', models.CharField(blank=True, max_length=50)),
                ('error_detail', models.TextField(blank=True, help_text="The provider's message, for staff.")),
                ('retry_after_s', models.FloatField(blank=True, help_text='How long the provider asks to wait.', null=True)),
                ('response_id', models.TextField(blank=True, help_text='Of the last round.')),
                ('model_version', models.TextField(blank=True, help_text='Of the last round.')),
                ('sources', models.JSONField(blank=True, default=list, help_text='Web pages that the answer rests on: url and title.')),
                ('queries', models.JSONField(blank=True, default=list, help_text='What was searched for.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('first_part_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='chat.conversation')),
                ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='turn', to='chat.message')),
                ('user_message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='asked_turns', to='chat.message')),
            ],
            options={
                'ordering': ['created_at'],
                'permissions': (('view_overview', 'Can view the overview of use'),),
            },
        ),
        migrations.CreateModel(
            name='Round',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('index', models.PositiveIntegerField()),
                ('usage', models.JSONField(blank=True, default=dict, help_text='Token counts of all attempts at this round.')),
                ('provider_usage', models.JSONField(blank=True, default=dict, help_text="The provider's own report of them.")),
                ('finish', models.CharField(blank=True, help_text='See `Finish`. Empty: the response was cut.', max_length=30)),
                ('finish_reason', models.TextField(blank=True, help_text="The provider's own word for it.")),
                ('finish_message', models.TextField(blank=True)),
                ('response_id', models.TextField(blank=True)),
                ('model_version', models.TextField(blank=True)),
                ('metadata', models.JSONField(blank=True, default=dict, help_text="Other reports, by the provider's own names.")),
                ('started_calls', models.JSONField(blank=True, default=list, help_text='Ids of the function calls whose tool may have run.')),
                ('turn', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='rounds', to='chat.turn')),
            ],
            options={
                'ordering': ['turn', 'index'],
            },
        ),
        migrations.CreateModel(
            name='TurnEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=20)),
                ('data', models.JSONField()),
                ('turn', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='chat.turn')),
            ],
            options={
                'ordering': ['turn', 'seq'],
            },
        ),
        migrations.CreateModel(
            name='Verdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reviewer_name', models.CharField(help_text="The reviewer's name at the time of the decision.", max_length=150)),
                ('decision', models.CharField(choices=[('taken', 'took it'), ('assigned', 'assigned it'), ('in_review', 'put it back into review'), ('approved', 'approved it'), ('flagged', 'flagged it'), ('noted', 'wrote a note or labels')], max_length=10)),
                ('state', models.CharField(choices=[('unreviewed', 'unreviewed'), ('in_review', 'in review'), ('approved', 'approved'), ('flagged', 'flagged')], help_text='The state after the decision.', max_length=10)),
                ('assignee_name', models.CharField(blank=True, help_text='To whom the conversation was assigned, if it was assigned.', max_length=150)),
                ('note', models.TextField(blank=True)),
                ('labels', models.JSONField(blank=True, default=list, help_text='The labels after the decision.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='chat.conversation')),
                ('reviewer', models.ForeignKey(db_constraint=False, db_index=False, help_text='The account may have been deleted since.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('conversation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='chat.conversation')),
                ('state', models.CharField(choices=[('unreviewed', 'unreviewed'), ('in_review', 'in review'), ('approved', 'approved'), ('flagged', 'flagged')], default='unreviewed', max_length=10)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('assignee', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='assigned_reviews', to=settings.AUTH_USER_MODEL)),
                ('labels', models.ManyToManyField(blank=True, related_name='reviews', to='chat.label')),
            ],
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['owner', '-updated_at'], name='chat_conver_owner_i_77b144_idx'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('pinned_at__isnull', False)), fields=['owner', '-updated_at'], name='pinned_conversations'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('archived_at__isnull', False)), fields=['owner', '-updated_at'], name='archived_conversations'),
        ),
        migrations.AddIndex(
            model_name='accessentry',
            index=models.Index(fields=['owner', '-id'], name='chat_access_owner_i_28424b_idx'),
        ),
        migrations.AddConstraint(
            model_name='importedconversation',
            constraint=models.UniqueConstraint(fields=('owner', 'digest'), name='one_import_per_owner'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('is_shown', True)), fields=('conversation', 'index'), name='one_shown_message_per_index'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('index', 0), ('parent__isnull', True)), models.Q(('index__gt', 0), ('parent__isnull', False)), _connector='OR'), name='first_messages_follow_none'),
        ),
        migrations.AddConstraint(
            model_name='messageattachment',
            constraint=models.UniqueConstraint(fields=('message', 'index'), name='one_attachment_per_index'),
        ),
        migrations.AddConstraint(
            model_name='part',
            constraint=models.UniqueConstraint(fields=('message', 'index'), name='one_part_per_index'),
        ),
        migrations.AddConstraint(
            model_name='preset',
            constraint=models.CheckConstraint(condition=models.Q(('thinking_level', ''), ('thinking_budget__isnull', True), _connector='OR'), name='preset_level_or_budget', violation_error_message='Set a thinking level or a thinking budget, not both: the API refuses a request that names both.'),
        ),
        migrations.AddConstraint(
            model_name='providerfile',
            constraint=models.UniqueConstraint(fields=('attachment', 'account'), name='one_file_per_account'),
        ),
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(condition=models.Q(('status__in', ['queued', 'running', 'waiting'])), fields=['lease_expires_at'], name='live_turns_by_lease'),
        ),
        migrations.AddConstraint(
            model_name='turn',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ['queued', 'running', 'waiting'])), fields=('conversation',), name='one_live_turn_per_conversation'),
        ),
        migrations.AddConstraint(
            model_name='turn',
            constraint=models.UniqueConstraint(fields=('conversation', 'client_id'), name='one_turn_per_client_id'),
        ),
        migrations.AddConstraint(
            model_name='round',
            constraint=models.UniqueConstraint(fields=('turn', 'index'), name='one_round_per_index'),
        ),
        migrations.AddConstraint(
            model_name='turnevent',
            constraint=models.UniqueConstraint(fields=('turn', 'seq'), name='one_event_per_seq'),
        ),
    ]
