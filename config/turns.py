"""Settings of turns: providers, requests to models, approvals, and limits of answers.

`config/model_servers.py` has the addresses and keys of the model servers.
"""

from __future__ import annotations

from config.env import Env

env = Env()

#: Largest request to a model, in bytes of JSON. It holds the newest graphs and files that fit, and names the others.
REQUEST_LIMIT_BYTES = 8_000_000
#: Total number of attempts for a request, if the provider is busy or cannot be reached. An answer that has begun is not
#: requested again.
PROVIDER_ATTEMPTS = 4
#: Maximum wait, in seconds, that a provider may request before a retry. If it requests more, the turn fails.
PROVIDER_RETRY_LIMIT_S = 60
#: Seconds before the first retry, doubled for each further retry, unless the provider gives a wait of its own.
PROVIDER_RETRY_PAUSE_S = 1.0
#: Seconds without received data after which a turn counts as stalled. Gemini may be silent for 30 s while code runs.
PROVIDER_IDLE_LIMIT_S = 60
#: Seconds without data after which a request counts as stalled, before the first byte of its response. This is longer,
#: because a local server loads the model first.
PROVIDER_FIRST_BYTE_LIMIT_S = 300
#: Dotted paths of the provider classes, by name. A provider is created when it is first used.
CHAT_PROVIDERS = {
    "gemini": "chat.providers.google.provider.GeminiProvider",
    "openai_compatible": "chat.providers.openai_compatible.provider.OpenAICompatibleProvider",
}
CHAT_PROVIDER = "gemini"
#: Dotted paths of the functions that create the tool sets of a turn (`ToolSetFactory` in chat/messages/tool_sets.py).
TOOL_SETS = ["chat.python.tool_set.factory.python_tools"]
#: Maximum number of rounds in one turn. A round is a request to the model; each next one sends the results of its
#: function calls.
ROUNDS_LIMIT = 20
#: Hours after which an unapproved function call counts as denied. The answer then goes on without it.
APPROVAL_LIMIT_H = 24
#: Whether a person must also release each result of a function before the model gets it, in all conversations.
RESULTS_NEED_APPROVAL = env.boolean("RESULTS_NEED_APPROVAL", default=False)
#: Seconds after which a turn counts as interrupted if its process no longer renews the lease. A process renews it after
#: a third of this time.
TURN_LEASE_S = 6
#: Longest duration of a turn, in seconds, without its waits for a decision. A turn that takes longer is ended.
TURN_LIMIT_S = 600
#: Limits of one answer: characters of text, and bytes of images. An answer that exceeds a limit is ended.
ANSWER_LIMIT_CHARS = 4 * 1024 * 1024
ANSWER_DATA_LIMIT_BYTES = 64 * 1024 * 1024
#: Maximum number of parts of one answer: texts, thoughts, pieces of code, results, images and function calls. An answer
#: that has more is ended.
ANSWER_PARTS_LIMIT = 2_000
#: Concurrent live turns of one user.
LIVE_TURNS_LIMIT = 8
#: Total size of the files in one request to the model. The API accepts 20 MB, and base64 adds a third to the bytes.
#: Only files of the question itself may exceed REQUEST_LIMIT_BYTES.
REQUEST_FILES_LIMIT_BYTES = 14 * 1024 * 1024

#: Longest prompt, in bytes of UTF-8.
PROMPT_LIMIT_BYTES = 256 * 1024
