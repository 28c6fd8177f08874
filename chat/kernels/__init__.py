"""Run untrusted Python in Jupyter kernels.

The package knows no Django. Its code runs in three kinds of processes: web servers and the emulator import the client,
the service is a process of its own, and `bootstrap` and `in_kernel` run inside kernels.

- The client: read `client` first. `JupyterClient` starts kernels at a place (see `places`) and connects to them.
  `kernel.Kernel` is a connection that runs cells. Below it, `request_runner` sends requests one after another and stops
  those that do not end, `kernel_connection` reads the websocket, `pending_execution` is the state of one request, and
  `kernel_resource` is the kernel in the server's REST API.
- What a kernel sends is read by pure modules, which check and bound all of it: `channel_messages`, `output_reader` and
  `display_bundles` for the outputs of cells (`outputs`), `snapshot` for variables and files.
- `kernel_program` runs the modules of `in_kernel` inside a kernel; `file_transfer` moves files with them.
- `service` is the place on this machine, with a sandbox around each kernel (`sandbox`, `seccomp`, and `bootstrap`
  inside). `interpreter` finds the Python that its kernels run on.
"""
