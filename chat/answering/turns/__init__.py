"""Turns: starting, running, stopping and ending them, and recovering those whose process has died.

    queued ──> running ──> done          the provider ended the answer with a finish reason
       │        │   ▲ └───> stopped       the user stopped it
       │        ▼   │ ├───> failed        the provider, a limit or a defect ended it
       │       waiting└───> interrupted   the response was cut, or the process died
       └──────────┴───────> stopped, failed, interrupted

`engine` is the module to read first. `start`, `start_plan`, `start_context` and `start_rules` begin a turn;
`tool_loop` runs function calls; `live_turn` is the task of a turn, `log_writer` holds the changes that are not stored
yet, and `live_page` makes frames of those that are; `store` writes them (with the plain SQL of `log_sql`) and
`finish` ends the turn; `runner` owns the live turns of a process, `leases` renews their leases, `recovery` ends the
turns of dead processes, `resume` continues turns that waited for a decision, and `approval_timeout` denies what nobody
has decided in time.
"""
