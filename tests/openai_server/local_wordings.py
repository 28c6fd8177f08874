"""What servers refuse that people run themselves, in their own words. See `wordings`."""

from __future__ import annotations

from tests.openai_server.refusals import Wording
from tests.openai_server.rules import Rule
from tests.openai_server.wordings import CONTEXT_VLLM, OPENAI, UNANSWERED, Wordings

_SHARED_RULES = (
    Rule.MESSAGES_NOT_EMPTY,
    Rule.ROLE,
    Rule.CONTENT,
    Rule.CALLS_NOT_EMPTY,
    Rule.CALL_ID_UNIQUE,
    Rule.ARGUMENTS,
    Rule.CALL_ANSWERED,
    Rule.RESULT_HAS_CALL,
    Rule.IMAGE_DATA,
    Rule.TOOL_NAME,
)
"""Rules that every server enforces in some way. For these, the words of a local server matter less."""


def _shared(status: int, error_type: str, code: int | None) -> Wordings:
    return {rule: Wording(OPENAI[rule].message, status, error_type, code) for rule in _SHARED_RULES}


LLAMACPP: Wordings = {
    **_shared(400, "invalid_request_error", 400),
    Rule.KEY: Wording("Invalid API Key", 401, "authentication_error"),
    Rule.SYSTEM_FIRST: Wording("System message must be at the beginning.", 500, "server_error"),
    Rule.CONTENT: Wording("Expected 'content' to be a string or an array", 500, "server_error"),
    Rule.ARGUMENTS: Wording(
        "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] {reason}", 500, "server_error"
    ),
    Rule.IMAGES: Wording(
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        500,
        "server_error",
    ),
    Rule.IMAGE_DATA: Wording("Failed to load image or audio file"),
    Rule.TOOLS: Wording("tools param requires --jinja flag", 500, "server_error"),
    Rule.CONTEXT: Wording(
        "request ({tokens} tokens) exceeds the available context size ({limit} tokens), try increasing it",
        type="exceed_context_size_error",
        extra=("limit", "tokens"),
    ),
}

VLLM: Wordings = {
    **_shared(400, "BadRequestError", 400),
    Rule.KEY: Wording("Unauthorized", 401, "AuthenticationError", 401),
    Rule.MODEL: Wording("The model `{model}` does not exist.", 404, "NotFoundError", 404),
    Rule.SYSTEM_FIRST: Wording("System message must be at the beginning.", 400, "BadRequestError", 400),
    Rule.ARGUMENTS: Wording("Expecting value: {reason}", 400, "BadRequestError", 400),
    Rule.IMAGES: Wording("{model} is not a multimodal model", 400, "BadRequestError", 400),
    Rule.TOOLS: Wording(
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        400,
        "BadRequestError",
        400,
    ),
    Rule.CHOICE_HAS_TOOLS: Wording("When using `tool_choice`, `tools` must be set.", 400, "BadRequestError", 400),
    Rule.CONTEXT: Wording(CONTEXT_VLLM, 400, "BadRequestError", 400),
}

OLLAMA: Wordings = {
    **_shared(400, "invalid_request_error", None),
    Rule.KEY: Wording("unauthorized", 401, "authentication_error"),
    Rule.MODEL: Wording("model '{model}' not found", 404, "not_found_error"),
    Rule.CONTENT: Wording("invalid message content type: <nil>"),
    Rule.ARGUMENTS: Wording("invalid tool call arguments"),
    Rule.IMAGES: Wording("this model is missing data required for image input", 500, "api_error"),
    Rule.IMAGE_DATA: Wording("invalid image input"),
    Rule.TOOLS: Wording("registry.ollama.ai/library/{model} does not support tools"),
    # A prompt that is too long is not refused: Ollama cuts its front.
}

GENERIC: Wordings = {
    **_shared(400, "", None),
    Rule.KEY: Wording("Unauthorized", 401),
    Rule.MODEL: Wording("Specified model not found: {model}", 404),
    Rule.SYSTEM_FIRST: Wording("System message must be at the beginning."),
    Rule.CALL_ANSWERED: Wording(UNANSWERED),
    Rule.IMAGES: Wording("This model does not support image input"),
    Rule.IMAGE_ROLE: Wording("image_url is not allowed in a message with role '{role}'"),
    Rule.TOOLS: Wording("This model does not support tools"),
    Rule.USAGE_OPTION: Wording("stream_options: Extra inputs are not permitted"),
    Rule.CONTEXT: Wording("This endpoint's maximum context length is {limit} tokens. You requested {tokens} tokens."),
}
