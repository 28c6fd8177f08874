"""Sandboxed Python kernels: run cells of code and read their text, errors and images.

The package knows no Django. Callers use `pool.WarmPool` or `session.Session`; `sandbox` isolates the kernel's process,
`interpreter` finds the Python that it runs, `sockets` and `messages` speak Jupyter's wire protocol with it.
"""
