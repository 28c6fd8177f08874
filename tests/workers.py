"""How `make test` is shared out: how many workers, and which files they begin with. Loaded by `-p tests.workers`.

Each file is one worker's, so that what a module starts is started once. Each worker has a folder, a database and ports
of its own (`tests.environment`, `tests.ports`); nothing else may be shared, nor looked at for the whole machine.
"""

from __future__ import annotations

import os

import pytest

#: No gain beyond it: the longest file ends last. Each worker needs 0.8 GB, and its servers and its browser as much.
MOST_WORKERS = 8

#: What takes long, the longest first, so that the files begun last are short. Another order costs time only. All
#: browser tests stand together, because a worker that leaves their folder ends its browser and its server.
LONG = (
    "tests/browser/test_admin_accessibility.py",
    "tests/browser/test_approval.py",
    "tests/browser/test_composer.py",
    "tests/browser/test_displays.py",
    "tests/browser/test_accessibility.py",
    "tests/browser/test_python_sessions.py",
    "tests/browser/test_long_conversations.py",
    "tests/browser/test_other_models.py",
    "tests/browser/test_answers.py",
    "tests/browser/test_previews.py",
    "tests/browser/test_conversation_list.py",
    "tests/browser/test_announcements.py",
    "tests/browser/test_versions.py",
    "tests/browser/test_main_job.py",
    "tests/browser/test_search.py",
    "tests/browser/test_review.py",
    "tests/browser/test_feedback.py",
    "tests/browser/test_settings.py",
    "tests/browser/test_account.py",
    "tests/browser/test_small_screens.py",
    "tests/browser/",
    "tests/chat/api/test_schema.py",
    "tests/bench/test_harness.py",
    "tests/chat/test_kill_sessions.py",
    "tests/chat/imports/test_round_trip.py",
    "tests/config/test_draining.py",
    "tests/chat/test_turn_ends.py",
    "tests/chat/test_sockets.py",
    "tests/chat/providers/test_openai_connections.py",
    "tests/chat/test_access.py",
    "tests/chat/kernels/service/test_supervisor.py",
    "tests/chat/turns/test_openai_streams.py",
    "tests/chat/quotas/test_two_servers.py",
    "tests/chat/test_lease_outage.py",
    "tests/chat/api/test_turns.py",
    "tests/chat/test_approval.py",
    "tests/chat/kernels/service/test_gateway.py",
    "tests/chat/kernels/conformance/test_limits.py",
    "tests/chat/turns/test_strict.py",
    "tests/test_run.py",
    "tests/chat/kernels/test_storm.py",
    "tests/chat/kernels/conformance/test_ends.py",
    "tests/chat/admin/test_queue.py",
    "tests/chat/python_sessions/test_replay.py",
    "tests/attachments/test_worker.py",
    "tests/chat/admin/test_roles.py",
    "tests/chat/test_parts.py",
    "tests/chat/test_kill.py",
    "tests/chat/test_storage_outage.py",
    "tests/chat/test_redis_outage.py",
    "tests/chat/relay/test_live_message.py",
    "tests/chat/api/test_access.py",
    "tests/chat/admin/test_reasons.py",
    "tests/bench/test_exports.py",
    "tests/chat/admin/test_records.py",
    "tests/chat/imports/test_untrusted_files.py",
    "tests/chat/exports/test_markdown.py",
    "tests/chat/api/test_sessions.py",
    "tests/chat/kernels/conformance/test_snapshot.py",
    "tests/chat/kernels/service/test_isolation.py",
    "tests/test_architecture.py",
    "tests/chat/rendering/test_stream.py",
    "tests/chat/api/test_approval.py",
    "tests/chat/test_transfers.py",
    "tests/chat/fragments/test_displays.py",
    "tests/chat/test_pauses.py",
    "tests/chat/turns/test_python_session.py",
    "tests/chat/turns/test_session_moves.py",
    "tests/chat/providers/test_gemini_recordings.py",
    "tests/chat/turns/test_openai_switching.py",
    "tests/chat/overview/test_queries.py",
    "tests/attachments/storage/test_s3.py",
    "tests/chat/python_sessions/test_session_kernel.py",
    "tests/chat/exports/test_displays.py",
    "tests/chat/turns/test_openai_tool_loop.py",
    "tests/chat/kernels/conformance/test_cells.py",
)


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: two for each core of this process, since a worker uses half of a core and waits otherwise."""
    return min(2 * len(os.sched_getaffinity(0)), MOST_WORKERS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put `LONG` first where there are workers; a run without them keeps the order of its arguments."""
    if hasattr(config, "workerinput"):
        items.sort(key=place)


def place(item: pytest.Item) -> int:
    """The place of a test's file in `LONG`, or behind it."""
    return next((number for number, path in enumerate(LONG) if item.nodeid.startswith(path)), len(LONG))
