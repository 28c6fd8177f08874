"""Conversations in requests and responses."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from chat.api.pagination import NEXT_HELP, ListQuerySerializer
from chat.api.queries import UsageTotals, live_turn_id, usage_totals
from chat.api.serializers.fields import (
    ConversationChoiceField,
    JSONBooleanField,
    ModelNameField,
    PromptField,
    QueryBooleanField,
    StrictSerializer,
    TextField,
    TitleField,
)
from chat.library.forms import SEARCH_LIMIT
from chat.models import Conversation
from chat.models.form_fields import TITLE_LIMIT
from chat.models.search_results import SearchResult
from chat.vocabulary.parts import JSONObject
from chat.vocabulary.sentences import translate_sentence


class NewConversationSerializer(StrictSerializer):
    """The settings of a new conversation. All may be left out."""

    title = TitleField(
        required=False,
        allow_blank=True,
        max_length=TITLE_LIMIT,
        help_text="If empty, the conversation is named after its first question.",
        error_messages={"max_length": f"A title can have at most {TITLE_LIMIT} characters."},
    )
    model = ModelNameField(help_text="The id of a model or the name of a preset. Empty: the server's default.")
    code_execution = ConversationChoiceField(
        Conversation.CodeExecution, help_text="Whether answers may run code. `auto`: if the question calls for it."
    )
    engine = ConversationChoiceField(
        Conversation.Engine,
        help_text="Where code runs: `native`, at the model's service; `session`, in the Python session; `auto`, at the"
        " model's service, and in the Python session if it has to.",
    )
    approval = ConversationChoiceField(
        Conversation.Approval,
        help_text="Whether code runs in the Python session without asking (`auto`) or only once you have approved it"
        " (`ask`).",
    )
    release = ConversationChoiceField(
        Conversation.Release,
        help_text="Whether models get the results of functions without asking (`auto`) or only once you have released"
        " each (`ask`).",
    )
    web_search = ConversationChoiceField(
        Conversation.WebSearch,
        help_text="Whether answers may search the web and read web pages, if their model can: `on`, when it helps the"
        " answer; `off`, never; `auto`, as the chosen preset does. Searches cost extra.",
    )
    private_data = JSONBooleanField(
        required=False,
        help_text="Whether models get the columns of tables and computed results only, never rows, cells or files. It"
        " holds from the next question on.",
    )
    system_instruction = PromptField(
        what="This instruction", help_text="What the model is told before everything else. At most 256 KB of UTF-8."
    )
    project = serializers.UUIDField(
        required=False, allow_null=True, help_text="The id of the project that it is in. Null: none."
    )
    is_temporary = JSONBooleanField(
        required=False,
        help_text="A temporary conversation is in no list, search, gallery and export of everything. It is deleted some"
        " minutes after its last page was closed and its last answer has ended.",
    )


class ConversationChangesSerializer(NewConversationSerializer):
    """Settings to change. Those that are left out keep their values."""

    archived = JSONBooleanField(
        required=False, help_text="Archived conversations have a list of their own. A question ends that."
    )
    pinned = JSONBooleanField(required=False, help_text="Pinned conversations come first in the list.")
    nightly = JSONBooleanField(
        required=False,
        help_text="Whether all code runs again each night, while the conversation is pinned. The operator of the server"
        " decides when.",
    )
    is_temporary = JSONBooleanField(required=False, help_text="False keeps a temporary conversation as a normal one.")


class ConversationsQuerySerializer(ListQuerySerializer):
    """Which conversations to list."""

    q = TextField(
        default="",
        allow_blank=True,
        max_length=SEARCH_LIMIT,
        help_text=(
            "Words and “quoted phrases” that the title or the shown messages must all contain. The last word of each"
            " unquoted term may be the beginning of a word. Signs such as those of `C++` count where they are typed."
            " Titles come before messages, and whole words before beginnings. Empty: all conversations, newest first."
        ),
        error_messages={"max_length": f"At most {SEARCH_LIMIT} characters can be searched for."},
    )
    archived = QueryBooleanField(required=False, help_text="Only archived ones, or only others. Left out: both.")
    project = serializers.UUIDField(required=False, help_text="Only those of this project. Left out: all.")
    pinned = QueryBooleanField(required=False, help_text="Only pinned ones, or only others. Left out: both.")


class SearchMatchSerializer(serializers.Serializer[SearchResult]):
    """Where the words of a search were found."""

    message_id = serializers.UUIDField(allow_null=True, help_text="Null: only in the title.")
    excerpt = serializers.SerializerMethodField(help_text="Of that message, on one line.")

    def get_excerpt(self, result: SearchResult) -> str:
        """Return the excerpt as plain text."""
        return "".join(piece.text for piece in result.excerpt)


class ConversationSerializer(serializers.Serializer[Conversation]):
    """A conversation with its settings."""

    id = serializers.UUIDField()
    title = serializers.CharField(allow_blank=True, help_text="Empty until it is named.")
    model = serializers.CharField(allow_blank=True, help_text="Empty: the server's default.")
    code_execution = serializers.ChoiceField(Conversation.CodeExecution.choices)
    engine = serializers.ChoiceField(Conversation.Engine.choices, help_text="Where code runs.")
    approval = serializers.ChoiceField(
        Conversation.Approval.choices, help_text="Whether code runs in the Python session without asking."
    )
    release = serializers.ChoiceField(
        Conversation.Release.choices, help_text="Whether models get results without asking."
    )
    web_search = serializers.ChoiceField(
        Conversation.WebSearch.choices, help_text="Whether answers may search the web, if their model can."
    )
    private_data = serializers.SerializerMethodField(
        help_text="Whether models get no rows, cells or files. A conversation in a private project is private, too."
    )
    system_instruction = serializers.CharField(allow_blank=True)
    project = serializers.UUIDField(source="project_id", allow_null=True, help_text="The project that it is in.")
    archived = serializers.SerializerMethodField(help_text="Archived conversations have a list of their own.")
    pinned = serializers.SerializerMethodField(help_text="Pinned conversations come first in the list.")
    nightly = serializers.SerializerMethodField(help_text="Whether all code runs again each night, while it is pinned.")
    is_temporary = serializers.BooleanField(help_text="Whether it is deleted after its last page was closed.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField(
        help_text="When its messages last changed. Lists are ordered by it. Title, settings and project do not count."
    )

    def get_private_data(self, conversation: Conversation) -> bool:
        """Return the conversation's own setting. Its project may have it, too."""
        return bool(conversation.private_data)

    def get_archived(self, conversation: Conversation) -> bool:
        """Return whether the conversation is archived."""
        return conversation.archived_at is not None

    def get_pinned(self, conversation: Conversation) -> bool:
        """Return whether the conversation is pinned."""
        return conversation.pinned_at is not None

    def get_nightly(self, conversation: Conversation) -> bool:
        """Return whether nightly runs are on."""
        return bool(conversation.nightly)


class ListedConversationSerializer(ConversationSerializer):
    """A conversation in a list."""

    match = SearchMatchSerializer(required=False, help_text="Only in search results.")


class ConversationUsageSerializer(serializers.Serializer[UsageTotals]):
    """What a conversation has used: the sums over all answers that have ended, shown or not, and over its title."""

    turns = serializers.IntegerField(min_value=0, help_text="Answers that have ended.")
    prompt = serializers.IntegerField(source="tokens.prompt", min_value=0)
    tool_use = serializers.IntegerField(source="tokens.tool_use", min_value=0)
    thoughts = serializers.IntegerField(source="tokens.thoughts", min_value=0)
    candidates = serializers.IntegerField(source="tokens.candidates", min_value=0)
    cached = serializers.IntegerField(source="tokens.cached", min_value=0)
    total = serializers.IntegerField(source="tokens.total", min_value=0)
    estimated = serializers.IntegerField(
        source="tokens.estimated", min_value=0, help_text="An estimate of tokens that were not reported."
    )
    cost = serializers.DecimalField(
        max_digits=None, decimal_places=8, allow_null=True, help_text="US dollars. Null: no price is known."
    )


class NightlyRunSerializer(serializers.Serializer[Conversation]):
    """The last nightly run of a conversation's code."""

    at = serializers.DateTimeField(source="nightly_at", help_text="When it began.")
    verdict = serializers.CharField(
        source="nightly_outcome.verdict", help_text="The worst one: `reproduced`, `differs` or `failed`. Empty: none."
    )
    detail = serializers.SerializerMethodField(help_text="A sentence that counts the verdicts, or says why none ran.")

    def get_detail(self, conversation: Conversation) -> str:
        """Return the sentence in English."""
        return translate_sentence((conversation.nightly_outcome or {}).get("detail", ""))


class ConversationDetailSerializer(ConversationSerializer):
    """A conversation with its settings and what it has used."""

    nightly_run = serializers.SerializerMethodField(help_text="The last one that has ended. Null: none.")
    live_turn_id = serializers.SerializerMethodField(help_text="The turn that writes an answer now. Null: none.")
    usage = serializers.SerializerMethodField(help_text="Of all answers that have ended, shown or not.")

    @extend_schema_field(NightlyRunSerializer(allow_null=True))
    def get_nightly_run(self, conversation: Conversation) -> JSONObject | None:
        """Return when the last nightly run began, and what it has shown."""
        run: JSONObject = NightlyRunSerializer(conversation).data if conversation.nightly_outcome else {}
        return run or None

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_live_turn_id(self, conversation: Conversation) -> str | None:
        """Return the id of the live turn."""
        turn_id = live_turn_id(conversation)
        return None if turn_id is None else str(turn_id)

    @extend_schema_field(ConversationUsageSerializer)
    def get_usage(self, conversation: Conversation) -> JSONObject:
        """Return the sums."""
        usage: JSONObject = ConversationUsageSerializer(usage_totals(conversation)).data
        return usage


class ConversationPageSerializer(serializers.Serializer[None]):
    """A page of conversations: newest first, or the best matches of a search first."""

    results = ListedConversationSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text=NEXT_HELP)
