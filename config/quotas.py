"""Settings of quotas: how much one person may use. `.env.example` describes the variables that are read here."""

from __future__ import annotations

from config.env import Env

env = Env()

#: Limits for everyone. 0: no limit. Rows in the admin change them for a person or a group. A day begins at 00:00 UTC.
#: The names are columns of `chat.models.Quota`.
QUOTAS = {
    # Answers that one person may start in a day, with edits, repetitions and own code.
    "turns_per_day": env.integer("QUOTA_TURNS_PER_DAY", 10_000),
    # Tokens of these answers, as the providers report them. They are counted when an answer has ended.
    "tokens_per_day": env.integer("QUOTA_TOKENS_PER_DAY", 1_000_000_000),
    # New conversations, with imported ones.
    "conversations_per_day": 20_000,
    # Seconds that code may run in Python sessions.
    "kernel_seconds_per_day": 36_000,
    # MB of text in imported files.
    "import_mb_per_day": 500,
    # MB of files that are uploaded, kept from Python sessions, or imported.
    "upload_mb_per_day": 4096,
    # MB of all files of one person, graphs included. Graphs and images of answers are stored even above it.
    "storage_mb": env.integer("QUOTA_STORAGE_MB", 20_480),
}
#: Dotted path of the function that counts each uploaded file, or refuses it (`attachments.store`).
UPLOAD_COUNTER = "chat.people.quotas.uploads.count_upload"
