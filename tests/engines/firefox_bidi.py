"""Runs the system's Firefox for Playwright, and answers the commands of WebDriver BiDi that Firefox lacks."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from threading import Thread

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection, serve

#: Playwright sends this command for every window, and treats the error of a Firefox that does not know it as fatal.
UNKNOWN_COMMANDS = {"emulation.setMediaFeaturesOverride"}
ANNOUNCEMENT = "WebDriver BiDi listening on "


def _forward_events(firefox: ClientConnection, client: ServerConnection) -> None:
    """Send to Playwright what Firefox sends."""
    try:
        for message in firefox:
            client.send(message)
    except ConnectionClosed:
        pass
    client.close()


def _forward_commands(address: str, client: ServerConnection) -> None:
    """Send the commands of Playwright to Firefox. Those that it does not know succeed without effect."""
    assert client.request
    with connect(address + client.request.path, max_size=None, ping_interval=None) as firefox:
        Thread(target=_forward_events, args=(firefox, client), daemon=True).start()
        for message in client:
            command = json.loads(message)
            if command["method"] in UNKNOWN_COMMANDS:
                client.send(json.dumps({"type": "success", "id": command["id"], "result": {}}))
            else:
                firefox.send(message)


def main(arguments: list[str]) -> int:
    """Run Firefox with these arguments until it ends, and announce the address of this program instead of Firefox's."""
    firefox = subprocess.Popen(["firefox-esr", *arguments], stderr=subprocess.PIPE, text=True)
    assert firefox.stderr
    for line in firefox.stderr:
        if ANNOUNCEMENT in line:
            forward = partial(_forward_commands, line.partition(ANNOUNCEMENT)[2].strip())
            server = serve(forward, "127.0.0.1", 0, max_size=None, ping_interval=None)
            Thread(target=server.serve_forever, daemon=True).start()
            line = f"{ANNOUNCEMENT}ws://127.0.0.1:{server.socket.getsockname()[1]}\n"
        sys.stderr.write(line)
        sys.stderr.flush()
    return firefox.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
