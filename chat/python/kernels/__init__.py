"""Run untrusted Python in Jupyter kernels.

The package knows no Django. Web servers, commands of `manage.py` and the emulator import the client, the service is a
process of its own, and `bootstrap` and `in_kernel` run inside kernels.

- The client: read `client` first. `JupyterClient` starts kernels at a place (see `places`) and connects to them.
  `KernelClient` runs cells in one kernel. It uses `request_runner`, which sends requests one after another and stops
  those that do not end, `kernel_websocket`, which reads the websocket, `pending_execution`, the state of one request,
  and `kernel_api`, the calls of the server's REST API about the kernel.
- What a kernel sends is read by pure modules, which check and bound all of it: `channel_messages`, `output_reader` and
  `display_files` for the outputs of cells (`outputs`), `kernel_contents` for variables and files, `table_reading` for
  tables.
- `kernel_program` runs the modules of `in_kernel` inside a kernel; `file_transfer` moves files with them.
- `service` is the place on this machine, with a sandbox around each kernel (`sandbox`, `seccomp`, and `bootstrap`
  inside). `interpreter` finds the Python that its kernels run on.
"""
