"""Turns: start one, stop one, recover those whose process is gone.

    queued ──> running ──> done          the provider's stream ended with a finish reason
       │          ├──────> stopped       the user stopped it
       │          ├──────> failed        the provider, a limit or a fault of ours ended it
       └──────────┴──────> interrupted   the stream was cut, or the process that ran it is gone

`engine.run_turn` is the page to read; `store` is the only writer; `transcript` reads what pages show.
"""
