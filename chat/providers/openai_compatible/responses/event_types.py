"""The types of the events of a response: those that are read, and those that are known and left out."""

from __future__ import annotations

READ = frozenset(
    {
        *("response.created", "response.in_progress", "response.queued"),
        *("response.completed", "response.incomplete", "response.failed", "error"),
        *("response.output_item.added", "response.output_item.done", "response.output_text.annotation.added"),
        *("response.output_text.delta", "response.refusal.delta"),
        *("response.reasoning_summary_text.delta", "response.reasoning_text.delta"),
    }
)
"""The types of events that are read. `LEFT_OUT` lists the other known types; unknown types are skipped too."""
LEFT_OUT = frozenset(
    {
        # These are left out, because `response.output_item.done` has the same content.
        *("response.content_part.added", "response.content_part.done"),
        *("response.output_text.done", "response.refusal.done"),
        *("response.reasoning_summary_part.added", "response.reasoning_summary_part.done"),
        *("response.reasoning_summary_text.done", "response.reasoning_text.done"),
        *("response.reasoning_part.added", "response.reasoning_part.done"),
        *("response.function_call_arguments.delta", "response.function_call_arguments.done"),
        *("response.custom_tool_call_input.delta", "response.custom_tool_call_input.done"),
        *("response.code_interpreter_call_code.delta", "response.code_interpreter_call_code.done"),
        *("response.mcp_call_arguments.delta", "response.mcp_call_arguments.done"),
        *("response.shell_call_command.added", "response.shell_call_command.delta"),
        *("response.shell_call_command.done", "response.shell_call_output_content.delta"),
        "response.shell_call_output_content.done",
        # Progress of tools that the server runs. No request asks for one.
        *(f"response.code_interpreter_call.{state}" for state in ("in_progress", "interpreting", "completed")),
        *(f"response.file_search_call.{state}" for state in ("in_progress", "searching", "completed")),
        *(f"response.web_search_call.{state}" for state in ("in_progress", "searching", "completed")),
        *(f"response.image_generation_call.{state}" for state in ("in_progress", "generating", "completed")),
        *(f"response.mcp_call.{state}" for state in ("in_progress", "completed", "failed")),
        *(f"response.mcp_list_tools.{state}" for state in ("in_progress", "completed", "failed")),
        # A draft of a picture, compaction of a context that this client manages itself, and a heartbeat.
        *("response.image_generation_call.partial_image", "response.compaction.compacting", "keepalive"),
        # No request asks for sound.
        *("response.audio.delta", "response.audio.done"),
        *("response.audio.transcript.delta", "response.audio.transcript.done"),
    }
)
