"""The examples of proxies in `deploy/` and `docs/deployment.md`: all that pages and programs need comes through."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import yaml
from websockets.sync.client import connect

from tests.chat.answering.tools.code_server import make_token
from tests.chat.api.api_client import ApiClient
from tests.drills.services import Service
from tests.live_server import ROOT, LiveServer, Visitor, running_server, send
from tests.ports import free_port

PASSWORD = ("gate", "a secret word")


def snippet(language: str) -> str:
    """Return the example in a language of `docs/deployment.md`."""
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / "docs/deployment.md").read_text(), re.M | re.S)
    return str(found)


def test_documented_traefik_configuration_has_the_service_and_its_health_check() -> None:
    parsed = yaml.safe_load(snippet("yaml"))["http"]
    [router], [service] = parsed["routers"].values(), parsed["services"].items()
    assert router["service"] == service[0]
    assert router["entryPoints"] == ["websecure"]
    assert "tls" in router
    balancer = service[1]["loadBalancer"]
    assert [server["url"] for server in balancer["servers"]] == ["http://127.0.0.1:8000"]
    assert balancer["healthCheck"]["path"] == "/readyz"


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with running_server() as running:
        yield running


def start_caddy(folder: Path, server: LiveServer, port: int, *, has_password: bool) -> Service:
    """Return Caddy with the example of `deploy/`, which serves HTTP on a port; with a password, if asked for."""
    program = shutil.which("caddy")
    if program is None:
        pytest.skip("caddy is not installed")
    text = (ROOT / "deploy/Caddyfile").read_text()
    if has_password:
        hashed = subprocess.run(
            [program, "hash-password", "--plaintext", PASSWORD[1]],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout.strip()
        text = text.replace("\treverse_proxy", f"\tbasicauth {{\n\t\t{PASSWORD[0]} {hashed}\n\t}}\n\treverse_proxy", 1)
    path = folder / "Caddyfile"
    path.write_text(f"{{\n\tadmin off\n}}\n{text}")
    variables = os.environ | {
        "PLOTLINE_HOSTS": f"http://127.0.0.1:{port}",
        "PLOTLINE_UPSTREAMS": f"127.0.0.1:{server.port}",
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    command = [program, "run", "--config", str(path), "--adapter", "caddyfile"]
    return Service(command, port, folder / "caddy.log", variables)


def start_nginx(folder: Path, server: LiveServer, port: int) -> Service:
    """Return nginx with the example of the document, which serves HTTP on a port."""
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("nginx is not installed")
    text = re.sub(r"^ *ssl_.*\n", "", snippet("nginx"), flags=re.M)
    text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{port}").replace(
        "127.0.0.1:8000", f"127.0.0.1:{server.port}"
    )
    own = "".join(f"{name}_temp_path {folder / name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    path = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    path.write_text(
        f"{user} daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; events {{}}\n"
        f"http {{ access_log off; {own}\n{text}}}\n"
    )
    return Service([program, "-p", str(folder), "-c", str(path)], port, folder / "nginx-output.log")


@pytest.mark.drill
@pytest.mark.parametrize("proxy", ["caddy", "caddy with a password", "nginx"])
def test_pages_sockets_files_and_event_streams_work_behind_caddy_and_nginx(
    server: LiveServer, tmp_path: Path, proxy: str
) -> None:
    port, has_password = free_port(), "password" in proxy
    service = (
        start_nginx(tmp_path, server, port)
        if proxy == "nginx"
        else start_caddy(tmp_path, server, port, has_password=has_password)
    )
    service.start()
    try:
        # The proxy's address, without a process of the server's.
        check_everything(LiveServer(server.var_dir, server.variables, port), has_password=has_password)
    finally:
        service.stop()


def check_everything(front: LiveServer, *, has_password: bool) -> None:
    """Log in, follow an answer by a socket and by the API, and send a file that fits and one that does not."""
    visitor = Visitor(front, "")
    visitor.http.auth = PASSWORD if has_password else None
    visitor.post("/accounts/login/", login="demo", password="demo")
    conversation_id = visitor.new_conversation()
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.http.cookies.items())
    headers = {"Cookie": cookies, "Origin": front.url}
    if has_password:
        headers["Authorization"] = f"Basic {base64.b64encode(':'.join(PASSWORD).encode()).decode()}"
    address = f"ws://127.0.0.1:{front.port}/ws/conversations/{conversation_id}/"
    with connect(address, additional_headers=headers) as socket:
        send(socket, "Hello")
        assert any("Hello" in str(socket.recv(timeout=60)) for _ in range(20))
    upload = post_file(visitor, "/attachments/", "notes.txt", b"a line\n" * 400_000)
    assert upload.status_code == 201, upload.text
    refused = post_file(visitor, "/import/", "a.json", b"x" * 17 * 1024**2)
    assert refused.status_code == 413
    assert "At most 16 MB can be sent at once." in refused.text
    refused = post_file(visitor, "/api/v1/import/", "a.zip", b"x" * 40_000_000)
    assert (refused.status_code, refused.json()["type"]) == (413, "/api/docs/#problem-too-large")
    check_api(front, visitor, has_password=has_password)


def post_file(visitor: Visitor, path: str, name: str, data: bytes) -> requests.Response:
    """Send a file as the forms of pages do."""
    url = visitor.server.url
    headers = {"X-CSRFToken": visitor.http.cookies["csrftoken"] or "", "Referer": url}
    return visitor.http.post(f"{url}{path}", files={"file": (name, data)}, headers=headers, timeout=60)


def check_api(front: LiveServer, visitor: Visitor, *, has_password: bool) -> None:
    """Ask by the API with a token in the second header, beside a password, and follow the answer to its end."""
    api = ApiClient(front, "")
    del api.http.headers["Authorization"]
    api.http.auth = visitor.http.auth
    api.http.headers["X-API-Key"] = make_token(visitor)
    response = api.post(f"conversations/{api.create_conversation()}/turns/", json={"text": "Hello"})
    assert response.status_code == 202, response.text
    assert [event.name for event in api.events(response.json()["events_url"])][-1] == "done"
