"""Messages and their parts in responses."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from chat.api.pagination import CURSOR_HELP, NEXT_HELP, PageQuerySerializer
from chat.api.serializers.attachments import AttachmentSerializer, attachment_json
from chat.api.serializers.feedback import FeedbackSerializer
from chat.api.serializers.fields import EnumField, QueryIntegerField
from chat.api.serializers.turns import UsageSerializer, usage_json
from chat.library.exports.as_json import part_json
from chat.messages.markers_in_text import markers_json
from chat.messages.records import MessageRecord
from chat.models import Turn
from chat.page.transcript.answer_details import answered_by
from chat.vocabulary.markers import MarkerSpan
from chat.vocabulary.parts import Engine, JSONObject, Part, PartKind, PrintedImage, Refusal, Role, WrittenFile


class MessagesQuerySerializer(PageQuerySerializer):
    """Which messages of a conversation to list."""

    cursor = QueryIntegerField(required=False, default=0, min_value=0, max_value=999_999_999, help_text=CURSOR_HELP)


class PrintedImageSerializer(serializers.Serializer[PrintedImage]):
    """An image that code printed as a `data:` URI. It was cut out of the output and stored as an attachment."""

    offset = serializers.IntegerField(help_text="Position in the output that is left, in characters.")
    header = serializers.CharField(help_text="The URI from `data:` to the comma.")
    line_chars = serializers.IntegerField(help_text="Length of the lines of its base64; 0 if it was on one line.")
    attachment = serializers.IntegerField(help_text="`index` of the attachment in its message.")


class WrittenFileSerializer(serializers.Serializer[WrittenFile]):
    """A file that code wrote into the working directory of the Python session. It ends with the session."""

    name = serializers.CharField()
    size_bytes = serializers.IntegerField(min_value=0)
    modified_at = serializers.CharField(help_text="ISO 8601. The session's file has another time if it was changed.")
    is_new = serializers.BooleanField(help_text="Whether there was no file of this name before.")


class MarkerSerializer(serializers.Serializer[MarkerSpan]):
    """The range `text[start:end]` of a marker in a message's text. It includes the line breaks around the marker."""

    start = serializers.IntegerField(min_value=0, help_text="In Unicode code points.")
    end = serializers.IntegerField(min_value=0)
    kind = serializers.ChoiceField([("graph", "graph"), ("image", "image")])
    index = serializers.IntegerField(min_value=0, help_text="`index` of the attachment.")


class PartSerializer(serializers.Serializer[Part]):
    """A piece of a message. Fields that its kind does not have, and most that have no value, are left out."""

    index = serializers.IntegerField(min_value=0)
    kind = EnumField(PartKind)
    round = serializers.IntegerField(min_value=0, help_text="The round of the turn, counted from 0.")
    engine = EnumField(
        Engine,
        required=False,
        help_text="Where the code runs: `native` is the provider's sandbox, `session` the conversation's session.",
    )
    text = serializers.CharField(required=False, allow_blank=True, help_text="Of `text` and `thought`.")
    code = serializers.CharField(required=False, allow_blank=True, help_text="Of `executable_code`.")
    language = serializers.CharField(required=False, help_text="Of `executable_code`: `PYTHON`.")
    is_edited = serializers.BooleanField(
        required=False, help_text="Of `executable_code`: whether a person changed the code before it ran."
    )
    outcome = serializers.CharField(
        required=False,
        help_text="Of `code_execution_result`: `OUTCOME_OK`, `OUTCOME_FAILED`, `OUTCOME_DEADLINE_EXCEEDED`,"
        " `OUTCOME_ABORTED`, `OUTCOME_LOST`, or another word of the provider's. Left out while the code runs.",
    )
    output = serializers.CharField(
        required=False, allow_blank=True, help_text="Of `code_execution_result`. Left out if there was no output."
    )
    images = PrintedImageSerializer(many=True, required=False, help_text="Of `code_execution_result`.")
    files = WrittenFileSerializer(
        many=True, required=False, help_text="Of `code_execution_result`: files that the code wrote in the session."
    )
    table_changes = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Of `code_execution_result`: which tables the code changed in the session, and how.",
    )
    missing_cells = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Of `code_execution_result`: missing cells of columns that the code names in earlier tables.",
    )
    cleared = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Of the last `code_execution_result` of code in the session: texts that it showed and then cleared.",
    )
    cleared_left_out = serializers.IntegerField(
        required=False, min_value=0, help_text="How many texts and graphs that the code cleared are not kept."
    )
    duration_ms = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="Of `code_execution_result`: milliseconds from the code to this result. Of `thought`: from its first"
        " piece to what came after it. Both as measured by this server.",
    )
    id = serializers.CharField(required=False, help_text="Pairs code with its results, and a call with its response.")
    name = serializers.CharField(
        required=False,
        help_text="The function of `function_call` and `function_response`, the file of `inline_data`, and the"
        " provider's word for the tool of `tool_call` and `tool_response`.",
    )
    arguments = serializers.DictField(required=False, help_text="Of `function_call` and `tool_call`.")
    result = serializers.DictField(required=False, help_text="Of `function_response` and `tool_response`.")
    is_error = serializers.BooleanField(required=False, help_text="Of `function_response`.")
    refusal = EnumField(
        Refusal,
        required=False,
        help_text="Of `function_response`: why the model does not get what the function returned. `denied`: a"
        " person did not allow the call. `withheld`: its result was not released. `not_run`: the answer ended before"
        " the call began. `aborted`: the call was stopped with its answer. `lost`: the server was interrupted while the"
        " call ran. `private`: the data are private, and `result` is what the model gets of them.",
    )
    made_by = serializers.CharField(
        required=False, help_text="`id` of the function call whose tool made this part. Left out: the model made it."
    )
    mime_type = serializers.CharField(required=False, help_text="Of `inline_data` and `file_data`.")
    title = serializers.CharField(required=False, help_text="Of a figure; empty if it has none, absent if not known.")
    uri = serializers.CharField(required=False, help_text="Of `file_data`.")
    display = serializers.DictField(
        required=False, help_text="Of `display`: MIME type -> content. Binary content is in base64."
    )
    attachment_index = serializers.IntegerField(
        required=False, min_value=0, help_text="`index` of the attachment that holds the part's bytes."
    )
    thought_signature = serializers.CharField(required=False, help_text="In base64.")
    provider_data = serializers.DictField(required=False, help_text="Other data that the provider needs back.")


class MessageSerializer(serializers.Serializer[MessageRecord]):
    """One message of the conversation. If it has several versions, this is the shown one."""

    id = serializers.UUIDField(source="message.id")
    index = serializers.IntegerField(
        source="message.index", min_value=0, help_text="Position in the conversation, from 0."
    )
    role = EnumField(Role, source="message.role")
    text = serializers.CharField(
        source="message.text",
        allow_blank=True,
        help_text="The text parts joined. `[GRAPH:n]` stands on a line of its own where graph n was drawn. `markers`"
        " tells these from text that only looks like them.",
    )
    markers = serializers.SerializerMethodField(
        help_text="Where `text` holds markers, in order. Empty for a question: what looks like one there was typed."
    )
    parts = serializers.SerializerMethodField(help_text="In order.")
    attachments = serializers.SerializerMethodField(help_text="In the order of their index.")
    status = serializers.SerializerMethodField(help_text="Of its turn. A question is always `done`.")
    usage = serializers.SerializerMethodField(help_text="Null for a question, and if no counts are known.")
    turn_id = serializers.UUIDField(source="turn.id", allow_null=True, help_text="Null for a question.")
    provider = serializers.SerializerMethodField(
        help_text="Which provider answered. Null for a question, and if code of the user ran without a model."
    )
    endpoint = serializers.SerializerMethodField(
        help_text="Which server of the provider. Empty: the one that the settings describe. Null as `provider`."
    )
    model = serializers.SerializerMethodField(help_text="The id of the model that answered. Null as `provider`.")
    engine = serializers.SerializerMethodField(
        help_text="Where the code of the answer runs: `native` or `session`. Null for a question, and if it runs none."
    )
    feedback = FeedbackSerializer(allow_null=True, help_text="Null for a question, and for an answer without a rating.")
    created_at = serializers.DateTimeField(source="message.created_at")

    @extend_schema_field(PartSerializer(many=True))
    def get_parts(self, record: MessageRecord) -> list[JSONObject]:
        """Return the parts in order."""
        return [part_json(index, part, record.part_attachments.get(index)) for index, part in enumerate(record.parts)]

    @extend_schema_field(MarkerSerializer(many=True))
    def get_markers(self, record: MessageRecord) -> list[JSONObject]:
        """Return the spans of the markers."""
        return markers_json(record.marker_spans())

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_provider(self, record: MessageRecord) -> str | None:
        """Return the provider of an answer."""
        return answered_by(record.turn).provider

    @extend_schema_field(serializers.CharField(allow_null=True, allow_blank=True))
    def get_endpoint(self, record: MessageRecord) -> str | None:
        """Return the endpoint of an answer's model."""
        return answered_by(record.turn).endpoint

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_model(self, record: MessageRecord) -> str | None:
        """Return the id of an answer's model."""
        return answered_by(record.turn).model

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_engine(self, record: MessageRecord) -> str | None:
        """Return where the code of an answer runs."""
        return answered_by(record.turn).engine

    @extend_schema_field(AttachmentSerializer(many=True))
    def get_attachments(self, record: MessageRecord) -> list[JSONObject]:
        """Return the attachments in the order of their index."""
        return [attachment_json(placed.attachment, placed.index) for placed in record.attachments]

    @extend_schema_field(serializers.ChoiceField(Turn.Status.choices))
    def get_status(self, record: MessageRecord) -> str:
        """Return the status of the turn."""
        return Turn.Status.DONE.value if record.turn is None else record.turn.status

    @extend_schema_field(UsageSerializer(allow_null=True))
    def get_usage(self, record: MessageRecord) -> JSONObject | None:
        """Return the token counts of an answer."""
        return None if record.turn is None else usage_json(record.turn)


class MessagePageSerializer(serializers.Serializer[None]):
    """A page of messages, in the conversation's order."""

    results = MessageSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text=NEXT_HELP)
