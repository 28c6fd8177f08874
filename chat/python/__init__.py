"""Runs code in Jupyter kernels, and everything that Plotline builds on kernels.

`kernels` runs untrusted Python and does not import Django. `sessions` gives each conversation a kernel of its own,
`tool_set` lets models and persons use it, `reruns` runs blocks of answers again, `newer_files` runs all of them on a
newer file, `session_panel` shows what the kernel holds, and `table_readings` describes attached tables in kernels.
Importing this package runs no code, because the emulator and the kernel service import it without Django.
"""
