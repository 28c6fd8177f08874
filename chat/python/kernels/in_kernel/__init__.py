"""Programs that run inside a kernel, see `chat.python.kernels.kernel_program`. Each module is sent there as text.

They import no other package of Plotline, and run beside code of users and models. That code can change any module, so
results from a kernel cannot be trusted. A false result concerns only the kernel itself. Names that users often give to
their own variables, such as `list` or `open`, do not matter: the programs have a namespace of their own.
"""
