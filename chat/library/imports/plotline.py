"""Parses Plotline's own exports, which `docs/export-format.md` describes. Every value is checked.

An answer that was unfinished when it was exported becomes an interrupted one. A model that users of this server cannot
choose is replaced by the server's default model.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError

from chat.library.exports.as_json import DOCUMENT_FORMAT, DOCUMENT_VERSION
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.plotline_attachments import ReadFile, read_attachments, without_missing_files
from chat.library.imports.plotline_messages import ID_LIMIT_CHARS, read_message
from chat.library.imports.plotline_turns import MODES, read_amount
from chat.library.imports.records import MESSAGES_LIMIT, ParsedConversation, ParsedMessage
from chat.models import Conversation
from chat.models.form_fields import check_prompt_size
from chat.models.projects import NAME_LIMIT
from chat.providers.catalogue.choices import check_choice
from chat.providers.catalogue.setups import UnknownModel
from chat.vocabulary.parts import Role
from chat.vocabulary.sanitize import TOKENS_LIMIT

TITLE_LIMIT_CHARS = MODEL_LIMIT_CHARS = 200
ENGINES = [engine.value for engine in Conversation.Engine]
RELEASES = [release.value for release in Conversation.Release]
APPROVALS = [approval.value for approval in Conversation.Approval]
WEB_SEARCHES = [mode.value for mode in Conversation.WebSearch]
TITLE_SOURCES = [source.value for source in Conversation.TitleSource]


def is_plotline(document: JSONValue) -> bool:
    """Return whether the document says that it is an export of Plotline."""
    return isinstance(document.value, dict) and document.value.get("format") == DOCUMENT_FORMAT


def parse_document(document: JSONValue, read_file: ReadFile) -> ParsedConversation:
    """Return the conversation of a document. Raises RefusedImport for invalid values."""
    if document.get("version").value != DOCUMENT_VERSION:
        raise document.get("version").refusal(f"only version {DOCUMENT_VERSION} can be imported.")
    settings = document.get("conversation")
    messages = [read_message(value) for value in document.get("messages").items(MESSAGES_LIMIT)]
    _check_tree(messages, document.get("messages"))
    uploads = {placement.key for message in messages for placement in message.placements if message.role is Role.USER}
    attachments, missing = read_attachments(document.get("attachments"), uploads, read_file)
    return ParsedConversation(
        title=settings.get("title").as_text(TITLE_LIMIT_CHARS),
        title_source=Conversation.TitleSource(settings.get("title_source").as_choice(TITLE_SOURCES)),
        model=_offered_model(settings.get("model").as_text(MODEL_LIMIT_CHARS)),
        code_execution=settings.get("code_execution").as_choice(MODES),
        engine=settings.get("engine").as_choice_or(Conversation.Engine.AUTO, ENGINES),
        approval=_approval(settings.get("approval")),
        release=settings.get("release").as_choice_or(Conversation.Release.AUTO, RELEASES),
        web_search=settings.get("web_search").as_choice_or(Conversation.WebSearch.AUTO, WEB_SEARCHES),
        private_data=settings.has("private_data") and settings.get("private_data").as_boolean(),
        system_instruction=_instruction(settings.get("system_instruction")),
        project=settings.get("project").as_text_or_empty(NAME_LIMIT),
        side_tokens=settings.get("side_tokens").as_integer(TOKENS_LIMIT),
        side_cost=read_amount(settings.get("side_cost")),
        created_at=settings.get("created_at").as_time(),
        updated_at=settings.get("updated_at").as_time(),
        messages=tuple(without_missing_files(message, attachments, missing, document) for message in messages),
        attachments=tuple(attachments.values()),
        own_id=str(settings.get("id").value or "")[:ID_LIMIT_CHARS],
    )


def _approval(value: JSONValue) -> str:
    """Return how running code is approved. Exports of earlier versions have `always` for `auto`, or no value."""
    is_always = value.value == "always"
    return Conversation.Approval.AUTO if is_always else value.as_choice_or(Conversation.Approval.AUTO, APPROVALS)


def _instruction(value: JSONValue) -> str:
    """Return an instruction for the model. Raises RefusedImport if it has more bytes than can be sent."""
    text = value.as_text()
    try:
        check_prompt_size(text, what="the instruction")
    except ValidationError as error:
        raise value.refusal(" ".join(error.messages)) from None
    return text


def _offered_model(name: str) -> str:
    """Return the name if users can choose this model; else an empty string, which means the server's default."""
    try:
        check_choice(name)
    except UnknownModel:
        return ""
    return name


def _check_tree(messages: list[ParsedMessage], value: JSONValue) -> None:
    """Raise RefusedImport unless parents come first, answers follow questions, and the shown messages are one path."""
    by_key: dict[str, ParsedMessage] = {}
    last_shown: ParsedMessage | None = None
    for message, message_value in zip(messages, value.items(MESSAGES_LIMIT), strict=True):
        if message.key in by_key:
            raise message_value.refusal("there is a message with this id already.")
        if message.parent is not None and message.parent not in by_key:
            raise message_value.refusal("its parent is not before it.")
        parent = by_key[message.parent] if message.parent is not None else None
        if message.role is Role.MODEL and (parent is None or parent.role is not Role.USER):
            raise message_value.refusal("an answer must follow a question.")
        if message.is_shown:
            if message.parent != (last_shown.key if last_shown else None):
                raise message_value.refusal("the shown messages are not one path.")
            last_shown = message
        by_key[message.key] = message
