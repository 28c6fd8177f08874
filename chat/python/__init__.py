"""Where code runs on this side: kernels, and what Plotline makes of them.

`kernels` runs untrusted Python and knows no Django. `sessions` gives each conversation a kernel of its own, `tool_set`
lets a model use it, and `table_previews` describes attached tables in kernels. This package does no work at import,
since the emulator and the kernel service import it without Django.
"""
