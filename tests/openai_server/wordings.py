"""What each kind of server refuses, in its own words.

The words come from recorded responses and from issue threads of the servers' and clients' projects. Two groups are
stricter than the real servers: every profile refuses arguments that are no JSON object, because llama.cpp and vLLM do,
and every profile refuses an id that two calls share, because OpenAI and Mistral do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tests.openai_server.refusals import Wording
from tests.openai_server.rules import Rule

Wordings: TypeAlias = Mapping[Rule, Wording]

EMPTY_ARRAY = "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead."
UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
)
RESULT_WITHOUT_CALL = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
)
CONTEXT_OPENAI = (
    "This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens."
    " Please reduce the length of the messages."
)
CONTEXT_VLLM = (
    "This model's maximum context length is {limit} tokens. However, you requested {tokens} tokens in the messages,"
    " Please reduce the length of the messages."
)
TOOLS_NEED_NO_EFFORT = (
    "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. To use function tools,"
    " use /v1/responses or set reasoning_effort to 'none'."
)

OPENAI: Wordings = {
    Rule.KEY: Wording(
        "Incorrect API key provided: sk-wrong. You can find your API key at"
        " https://platform.openai.com/account/api-keys.",
        401,
        code="invalid_api_key",
    ),
    Rule.MODEL: Wording(
        "The model `{model}` does not exist or you do not have access to it.",
        404,
        code="model_not_found",
        names_param=False,
    ),
    Rule.FIELD: Wording("Unknown parameter: '{path}'.", code="unknown_parameter"),
    Rule.MESSAGES_NOT_EMPTY: Wording(EMPTY_ARRAY.format(path="messages"), code="empty_array"),
    Rule.ROLE: Wording(
        "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and"
        " 'developer'.",
        code="invalid_value",
    ),
    Rule.SYSTEM_ROLE: Wording(
        "Unsupported value: '{path}' does not support '{role}' with this model.", code="unsupported_value"
    ),
    Rule.CONTENT: Wording("Invalid value for 'content': expected a string, got {found}."),
    Rule.CALLS_NOT_EMPTY: Wording(EMPTY_ARRAY, code="empty_array"),
    Rule.CALL_ID_UNIQUE: Wording(
        "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{first}] and"
        " messages[{position}]."
    ),
    Rule.ARGUMENTS: Wording("Invalid '{path}': the arguments are not a JSON object."),
    Rule.CALL_ANSWERED: Wording(f"{UNANSWERED} The following tool_call_ids did not have response messages: {{ids}}"),
    Rule.RESULT_HAS_CALL: Wording(RESULT_WITHOUT_CALL),
    Rule.IMAGES: Wording("Invalid content type. image_url is only supported by certain models.", code="invalid_value"),
    Rule.IMAGE_ROLE: Wording(
        "Invalid 'messages[{position}]'. Image URLs are only allowed for messages with role 'user', but this message"
        " with role '{role}' contains an image URL.",
        code="invalid_value",
    ),
    Rule.IMAGE_DATA: Wording("Failed to download image.", code="invalid_image_url"),
    Rule.TOOLS: Wording("tools is not supported in this model."),
    Rule.TOOLS_NOT_EMPTY: Wording(EMPTY_ARRAY, code="empty_array"),
    Rule.TOOL_NAME: Wording(
        "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern"
        " '^[a-zA-Z0-9_-]+$'.",
        code="invalid_value",
    ),
    Rule.PYTHON_RESERVED: Wording(
        "The function name 'python' is reserved for use by this model. Please use a different function name."
    ),
    Rule.CHOICE_HAS_TOOLS: Wording("Invalid value for 'tool_choice': only allowed when 'tools' are specified."),
    Rule.TOOLS_WITHOUT_EFFORT: Wording(TOOLS_NEED_NO_EFFORT),
    Rule.MAX_TOKENS: Wording(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        code="unsupported_parameter",
    ),
    Rule.SAMPLING: Wording(
        "Unsupported value: '{path}' does not support {value} with this model. Only the default (1) value is"
        " supported.",
        code="unsupported_value",
    ),
    Rule.CONTEXT: Wording(CONTEXT_OPENAI, code="context_length_exceeded"),
}

_ORDER = "invalid_request_message_order"

MISTRAL: Wordings = {
    Rule.KEY: Wording("Invalid API Key", 401),
    Rule.MODEL: Wording("Invalid model: {model}", type="invalid_model", code="1500"),
    Rule.FIELD: Wording("Extra inputs are not permitted", 422, code="extra_forbidden"),
    Rule.MESSAGES_NOT_EMPTY: Wording("Conversation must have at least one message", type=_ORDER, code="3230"),
    Rule.ROLE: Wording("Input tag '{role}' found using 'role' does not match any of the expected tags", 422),
    Rule.SYSTEM_FIRST: Wording("Unexpected role 'system' after role 'assistant'", type=_ORDER, code="3230"),
    Rule.CONTENT: Wording(
        "Assistant message must have either content or tool_calls, but not none.",
        type="invalid_request_assistant_message",
        code="3240",
    ),
    Rule.CALLS_NOT_EMPTY: Wording(
        "Assistant message must have either content or tool_calls, but not none.",
        type="invalid_request_assistant_message",
        code="3240",
    ),
    Rule.ASSISTANT_LAST: Wording(
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
        type=_ORDER,
        code="3230",
    ),
    Rule.CALL_ID_UNIQUE: Wording("Not the same number of function calls and responses", type=_ORDER, code="3230"),
    Rule.CALL_ID_FORM: Wording(
        "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
        type="invalid_function_call",
        code="3280",
    ),
    Rule.ARGUMENTS: Wording("Function arguments must be a JSON object.", type="invalid_function_call", code="3280"),
    Rule.CALL_ANSWERED: Wording("Not the same number of function calls and responses", type=_ORDER, code="3230"),
    Rule.RESULT_HAS_CALL: Wording("Unexpected role '{role}' after role '{last}'", type=_ORDER, code="3230"),
    Rule.USER_NOT_AFTER_TOOL: Wording("Unexpected role '{role}' after role '{last}'", type=_ORDER, code="3230"),
    Rule.IMAGES: Wording("Image input is not enabled for this model", type="invalid_request_error", code="3051"),
    Rule.IMAGE_ROLE: Wording("Image content is not allowed in messages of role '{role}'", code="3051"),
    Rule.IMAGE_DATA: Wording("Image could not be loaded from the url", type="invalid_request_file", code="3310"),
    Rule.TOOLS: Wording("Function calling is not enabled for this model", code="3051"),
    Rule.TOOLS_NOT_EMPTY: Wording("Extra inputs are not permitted", 422, code="extra_forbidden"),
    Rule.TOOL_NAME: Wording("Function name was {value} but must be a-z, A-Z, 0-9, or contain underscores and dashes"),
    Rule.USAGE_OPTION: Wording("Extra inputs are not permitted", 422, code="extra_forbidden"),
    Rule.CONTEXT: Wording(
        "Prompt contains {tokens} tokens and 0 draft tokens, too large for model with {limit} maximum context length",
        code="3051",
    ),
}

_ONLY_OPENAI = (Rule.FIELD, Rule.PYTHON_RESERVED, Rule.TOOLS_WITHOUT_EFFORT, Rule.MAX_TOKENS, Rule.SAMPLING)

DEEPSEEK: Wordings = {
    **{
        rule: Wording(wording.message, wording.status, code="invalid_request_error", names_param=False)
        for rule, wording in OPENAI.items()
        if rule not in _ONLY_OPENAI
    },
    Rule.KEY: Wording("Authentication Fails, Your api key: ****rong is invalid", 401, "authentication_error"),
    Rule.MODEL: Wording("Model Not Exist", code="invalid_request_error", names_param=False),
    Rule.REASONING_RETURNED: Wording(
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        code="invalid_request_error",
        names_param=False,
    ),
    Rule.FORCED_CHOICE: Wording(
        "Thinking mode does not support this tool_choice", code="invalid_request_error", names_param=False
    ),
    Rule.IMAGES: Wording(
        "Failed to deserialize the JSON body into the target type: messages[{position}]: unknown variant `image_url`,"
        " expected `text` at line 1 column 391",
        code="invalid_request_error",
        names_param=False,
    ),
}
