"""Where code runs on this side: kernels, and what Plotline makes of them.

`kernels` runs untrusted Python and knows no Django. `sessions` gives each conversation a kernel of its own, `tool_set`
lets models and persons use it, `reruns` runs a block of an answer again, `session_panel` shows what the kernel holds,
and `table_readings` describes attached tables in kernels. This package does no work at import, since the emulator and
the kernel service import it without Django.
"""
