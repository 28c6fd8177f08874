"""The service that runs Python sessions on this machine: `python -m chat.python.kernels.service --directory DIR`.

The service has two processes, and one sandbox for each kernel:

    supervisor    `supervisor`, `control`, `gateway_process`: light, without packages of Jupyter. It answers on
                  `DIR/control.sock` (see `places`), starts the gateway on demand, checks its health, and restarts it.
    gateway       `gateway`: Jupyter Kernel Gateway with classes of Plotline. `api` chooses its handlers,
                  `mapping_manager` keeps kernels ready, `provisioner` launches them in the sandbox.

Clients speak Jupyter's documented REST and websocket API with the gateway, as with any other Jupyter server.
All of the gateway's kernels end with it, and the gateway ends with the supervisor, also after `kill -9`.
"""
