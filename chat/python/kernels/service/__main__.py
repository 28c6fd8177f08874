"""Run Python sessions on this machine until SIGINT or SIGTERM.

The web server starts the gateway on demand, through a socket in the folder. With --listen, the gateway is started at
once, on this address, for web servers that use it by JUPYTER_GATEWAY_URL.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

from chat.python.kernels.service import control, runtime_directory
from chat.python.kernels.service.options import GatewayOptions
from chat.python.kernels.service.supervisor import HealthCheck, Supervisor
from chat.vocabulary.log_lines import LineFormatter


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    defaults = GatewayOptions()
    parser = argparse.ArgumentParser(prog="python -m chat.python.kernels.service", description=__doc__)
    parser.add_argument(
        "--directory", type=Path, required=True, help="folder of the control socket; created if missing"
    )
    parser.add_argument("--listen", metavar="HOST:PORT", help="start the gateway at once, on this address")
    parser.add_argument("--token-file", type=Path, help="file with the token that clients send; needed with --listen")
    parser.add_argument(
        "--warm-kernels", type=int, default=defaults.warm_kernels, help="number of kernels that are kept ready"
    )
    parser.add_argument(
        "--memory-limit", type=int, default=defaults.memory_limit_mib, metavar="MIB", help="memory of one kernel"
    )
    parser.add_argument("--kernels-limit", type=int, default=defaults.kernels_limit, help="number of kernels at once")
    parser.add_argument(
        "--use-cgroups", action="store_true", help="as root, limit kernels by control groups that nobody has delegated"
    )
    parser.add_argument(
        "--idle-limit",
        type=int,
        default=defaults.idle_limit_s,
        metavar="SECONDS",
        help="end kernels that are idle longer",
    )
    parser.add_argument("--health-limit", type=float, default=10.0, metavar="SECONDS", help="longest health check")
    parser.add_argument("--health-interval", type=float, default=5.0, metavar="SECONDS", help="time between two checks")
    parser.add_argument("--ping-interval", type=float, default=defaults.ping_interval_s, metavar="SECONDS")
    parser.add_argument(
        "--without-sandbox", action="store_true", help="run code as this user, with access to all of its files"
    )
    arguments = parser.parse_args()
    if bool(arguments.listen) != bool(arguments.token_file):
        parser.error("--listen and --token-file belong together")
    return arguments


def gateway_options(arguments: argparse.Namespace) -> GatewayOptions:
    """Return the gateway's options; exits with a sentence if a value is invalid."""
    host, _, port = (arguments.listen or "127.0.0.1:0").rpartition(":")
    if not host or not port.isdigit():
        sys.exit(f"--listen must be HOST:PORT, such as 0.0.0.0:8888, not {arguments.listen!r}.")
    token = ""
    if arguments.token_file:
        try:
            token = arguments.token_file.read_text().strip()
        except OSError as error:
            sys.exit(f"The token file {arguments.token_file} cannot be read: {error.strerror}.")
        if len(token) < 16:
            sys.exit(f"The token in {arguments.token_file} is too short: use at least 16 characters.")
    return GatewayOptions(
        token=token,
        host=host.strip("[]"),
        port=int(port),
        warm_kernels=arguments.warm_kernels,
        memory_limit_mib=arguments.memory_limit,
        kernels_limit=arguments.kernels_limit,
        idle_limit_s=arguments.idle_limit,
        uses_cgroups_as_root=arguments.use_cgroups,
        ping_interval_s=arguments.ping_interval,
        is_sandboxed=not arguments.without_sandbox,
    )


async def run(arguments: argparse.Namespace, options: GatewayOptions) -> None:
    """Serve until SIGINT or SIGTERM."""
    termination = asyncio.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signal_number, termination.set)
    directory = arguments.directory.absolute()
    health_check = HealthCheck(arguments.health_interval, arguments.health_limit)
    supervisor = Supervisor(directory, options, health_check)
    with control.lock(directory) as folder:
        # An earlier service that was killed may have left the folder of its gateway.
        runtime_directory.remove(directory)
        server = await control.serve(supervisor, control.open_socket(folder))
        tasks: list[asyncio.Task[object]] = [asyncio.create_task(supervisor.watch_launches())]
        if arguments.listen:
            tasks.append(asyncio.create_task(supervisor.start()))
        await termination.wait()
        for task in tasks:
            task.cancel()
        server.close()
        await supervisor.close()


def main() -> None:
    """Run the service."""
    arguments = parse_arguments()
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter("Python sessions: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    os.umask(0o077)
    try:
        asyncio.run(run(arguments, gateway_options(arguments)))
    except control.DirectoryInUse as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"The folder {arguments.directory} of the service cannot be used: {error}.")


if __name__ == "__main__":
    main()
