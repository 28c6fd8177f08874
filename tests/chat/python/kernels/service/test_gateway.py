"""The gateway speaks Jupyter's API, keeps kernels ready and apart, and never restarts one silently."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from http import HTTPStatus
from pathlib import Path

import aiohttp
import pytest

from chat.python.kernels import sandbox
from chat.python.kernels.places import CPU_PATH, LocalService
from chat.python.kernels.service.provisioner import SandboxProvisioner
from tests.chat.python.kernels.processes import arguments_of, gateway_pid, process_tree, survivors_of
from tests.chat.python.kernels.service.raw_kernel import DEAD, connected, open_client, running_kernel, start_kernel
from tests.environment import ROOT
from tests.kernel_service import running_service
from tests.polling import wait_until, wait_until_async

LIMIT_S = 60.0


@pytest.mark.parametrize("headers", [{}, {"Authorization": "token wrong"}])
async def test_requests_without_the_token_are_refused(kernel_service: LocalService, headers: dict[str, str]) -> None:
    address = await kernel_service.address()
    async with running_kernel(kernel_service) as kernel, aiohttp.ClientSession(headers=headers) as http:
        path = f"{address.url}/api/kernels"
        for url in (path, f"{path}/{kernel.kernel_id}", f"{address.url}/api", f"{address.url}/plotline/status"):
            async with http.get(url) as response:
                assert response.status == HTTPStatus.UNAUTHORIZED, url
        async with http.post(path) as response:
            assert response.status == HTTPStatus.UNAUTHORIZED
        with pytest.raises(aiohttp.WSServerHandshakeError) as error:
            await http.ws_connect(f"{path}/{kernel.kernel_id}/channels")
        assert error.value.status == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize(
    "path", ["/", "/api/contents", "/api/sessions", "/api/terminals", "/api/swagger.json", "/tree"]
)
async def test_paths_of_jupyter_that_the_gateway_does_not_implement_return_404(
    kernel_service: LocalService, path: str
) -> None:
    address = await kernel_service.address()
    async with open_client(address) as http, http.get(address.url + path) as response:
        assert response.status == HTTPStatus.NOT_FOUND


def test_gateway_starts_without_importing_lark() -> None:
    program = "import sys; import chat.python.kernels.service.gateway; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


async def test_list_of_kernel_specs_contains_only_python3(kernel_service: LocalService) -> None:
    address = await kernel_service.address()
    async with open_client(address) as http, http.get(f"{address.url}/api/kernelspecs") as response:
        specs = await response.json()
    assert list(specs["kernelspecs"]) == [specs["default"]] == ["python3"]
    assert specs["kernelspecs"]["python3"]["spec"]["interrupt_mode"] == "message"


async def test_kernel_that_was_started_in_advance_has_matplotlib_imported() -> None:
    with running_service("--warm-kernels", "1") as service:
        address = await service.place.address()
        wait_until(lambda: service.place.status().warm_kernels == 1, LIMIT_S)
        assert service.place.status().kernels == 0
        # A warm kernel is not in the list, because it belongs to no client yet.
        async with open_client(address) as http, http.get(f"{address.url}/api/kernels") as response:
            assert await response.json() == []
        async with running_kernel(service.place) as kernel:
            assert await kernel.run("import sys; 'matplotlib.pyplot' in sys.modules") == "True"
            # No variable and no input shows that the kernel has run something before.
            names = "print([name for name in dir() if not name.startswith('_')], len(In))"
            assert await kernel.run(names) == "['In', 'Out', 'exit', 'get_ipython', 'open', 'quit', 'sys'] 3\n"
            code = "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()"
            assert "image/png" in await kernel.run(code)
        await wait_until_async(lambda: service.place.status().warm_kernels == 1, LIMIT_S)


async def test_start_of_a_kernel_above_the_limit_is_refused() -> None:
    with running_service("--warm-kernels", "0", "--kernels-limit", "1") as service:
        async with (
            running_kernel(service.place) as kernel,
            kernel.http.post(f"{kernel.address.url}/api/kernels") as response,
        ):
            assert response.status == HTTPStatus.FORBIDDEN
            assert "in use" in (await response.json())["message"]


async def test_kernel_whose_client_dies_during_the_start_is_ended() -> None:
    with running_service("--warm-kernels", "0") as service:
        address = await service.place.address()
        async with open_client(address) as http:
            start = asyncio.create_task(start_kernel(http, address))
            await wait_until_async(lambda: service.place.status().kernels == 1, LIMIT_S)
            assert not start.done()
            start.cancel()
            await wait_until_async(lambda: service.place.status().kernels == 0, LIMIT_S)
        async with running_kernel(service.place) as kernel:
            assert await kernel.run("1 + 1") == "2"


async def test_error_says_that_the_python_kernel_cannot_be_started() -> None:
    with running_service("--warm-kernels", "0") as service:
        address = await service.place.address()
        shutil.rmtree(service.directory / "run")
        async with open_client(address) as http, http.post(f"{address.url}/api/kernels") as response:
            assert response.status == HTTPStatus.SERVICE_UNAVAILABLE
            assert "The Python kernel cannot be started" in (await response.json())["message"]


async def test_folder_of_a_kernel_is_removed_if_its_process_cannot_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("too many processes")

    monkeypatch.setattr(sandbox, "launch", fail)
    process = SandboxProvisioner(directory=str(tmp_path))
    process.connection_info = {"key": "k"}
    with pytest.raises(OSError, match="too many processes"):
        await process.launch_kernel(["kernel"])
    assert os.listdir(tmp_path) == []


@pytest.mark.drill
async def test_unused_kernel_is_ended_and_a_connected_one_is_not() -> None:
    with running_service("--warm-kernels", "1", "--idle-limit", "6") as service:
        async with running_kernel(service.place) as connected_one, running_kernel(service.place) as idle_one:
            await idle_one.send("while True: pass")
            await idle_one.socket.close()
            await wait_until_async(lambda: service.place.status().kernels == 1, LIMIT_S)
            assert (await idle_one.model())["end"] == "It was idle for 0.1 min."
            assert await connected_one.run("1 + 1") == "2"
            assert service.place.status().warm_kernels == 1


@pytest.mark.drill
async def test_idle_kernel_is_not_ended_while_a_client_requests_its_cpu_time() -> None:
    with running_service("--warm-kernels", "0", "--idle-limit", "6") as service:
        address = await service.place.address()
        async with (
            running_kernel(service.place) as kept,
            running_kernel(service.place) as idle,
            open_client(address) as http,
        ):
            await kept.socket.close()
            await idle.socket.close()

            async def count_until_other_ends() -> bool:
                url = f"{address.url}{CPU_PATH.format(kernel_id=kept.kernel_id)}"
                async with http.post(url) as response:
                    assert response.status == HTTPStatus.OK
                return await asyncio.to_thread(lambda: service.place.status().kernels) == 1

            async with asyncio.timeout(LIMIT_S):
                while not await count_until_other_ends():
                    await asyncio.sleep(0.5)
            assert (await idle.model())["end"] == "It was idle for 0.1 min."


async def test_environment_variables_in_a_request_for_a_kernel_are_ignored(kernel_service: LocalService) -> None:
    address = await kernel_service.address()
    async with open_client(address) as http:
        body = {"name": "anything", "path": "/etc", "env": {"KERNEL_SECRET": "x"}}
        async with http.post(f"{address.url}/api/kernels", json=body) as response:
            kernel_id = (await response.json())["id"]
        async with connected(http, address, kernel_id) as kernel:
            assert await kernel.run("import os; os.environ.get('KERNEL_SECRET'), os.getcwd()") == "(None, '/box')"
        async with http.delete(f"{address.url}/api/kernels/{kernel_id}") as response:
            assert response.status == HTTPStatus.NO_CONTENT


async def test_kernel_that_ended_itself_returns_404_and_the_reason_of_its_end_can_be_read(
    kernel_service: LocalService,
) -> None:
    async with running_kernel(kernel_service) as kernel:
        assert (await kernel.run("import os; os._exit(3)")).endswith(DEAD)
        async with kernel.http.get(f"{kernel.address.url}/api/kernels/{kernel.kernel_id}") as response:
            assert response.status == HTTPStatus.NOT_FOUND
        assert (await kernel.model())["end"] == "It ended by itself."
        async with running_kernel(kernel_service) as other:
            assert await other.run("1 + 1") == "2"


async def test_restarted_kernel_has_lost_its_variables(kernel_service: LocalService) -> None:
    async with running_kernel(kernel_service) as kernel:
        await kernel.run("value = 1")
        async with kernel.http.post(f"{kernel.address.url}/api/kernels/{kernel.kernel_id}/restart") as response:
            assert response.status == HTTPStatus.OK
        # The earlier connection may lose the first outputs of the new process.
        async with connected(kernel.http, kernel.address, kernel.kernel_id) as connection:
            assert "NameError" in await connection.run("value")


@pytest.mark.drill
async def test_memory_limit_still_ends_a_kernel_after_its_restart() -> None:
    with running_service("--memory-limit", "256", "--warm-kernels", "0") as service:
        async with running_kernel(service.place) as kernel:
            await kernel.http.post(f"{kernel.address.url}/api/kernels/{kernel.kernel_id}/restart")
            assert (await kernel.run("held = b'x' * 400_000_000\nimport time; time.sleep(600)")).endswith(DEAD)
            assert "memory" in (await kernel.model())["end"]


async def test_kernel_cannot_see_the_folder_of_another_kernel() -> None:
    with running_service("--warm-kernels", "0") as service:
        async with running_kernel(service.place) as first, running_kernel(service.place) as second:
            folders = list((service.directory / "run").glob("k-*"))
            assert len(folders) == 2
            assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}
            names = "import os; sorted(name for name in os.listdir('/rt'))"
            assert await first.run(names) == "['c.json', 's-1', 's-2', 's-3', 's-4', 's-5']"
            key = "import json; print(json.load(open('/rt/c.json'))['key'])"
            assert await first.run(key) != await second.run(key)
            for folder in (service.directory, *folders):
                assert await first.run(f"import os; os.path.exists({str(folder)!r})") == "False"
        await wait_until_async(lambda: not list((service.directory / "run").glob("k-*")))


async def test_all_processes_of_a_deleted_kernel_end(kernel_service: LocalService) -> None:
    before = set(process_tree(os.getpid()))
    async with running_kernel(kernel_service) as kernel:
        await kernel.run("import subprocess; subprocess.Popen(['setsid', 'sleep', '601'])")

        def started() -> list[int]:
            return [pid for pid in process_tree(os.getpid()) if pid not in before and b"601" in arguments_of(pid)]

        # A new process has the command line of its parent first.
        new = await wait_until_async(started, LIMIT_S)
    assert survivors_of(new) == []


async def test_print_of_a_megabyte_arrives_whole(kernel_service: LocalService) -> None:
    async with running_kernel(kernel_service) as kernel:
        assert len(await kernel.run("print('x' * 1_000_000)")) == 1_000_001


async def test_lines_that_are_flushed_one_by_one_all_arrive_in_order(kernel_service: LocalService) -> None:
    code = (
        "from IPython.display import display\n"
        "for number in range(20_000): print(number, flush=True)\n"
        "display({'text/x': ''}, raw=True)\nprint('end')"
    )
    async with running_kernel(kernel_service) as kernel:
        text = await kernel.run(code)
    assert text == "".join(f"{number}\n" for number in range(20_000)) + "['text/x']end\n"


async def test_message_above_the_limit_ends_the_kernel_and_not_the_gateway(kernel_service: LocalService) -> None:
    code = (
        "kernel = get_ipython().kernel\n"
        "content = {'name': 'stdout', 'text': 'x' * 17_000_000}\n"
        "kernel.session.send(kernel.iopub_socket, 'stream', content, parent=kernel.get_parent())\n"
        "import time; time.sleep(600)"
    )
    async with running_kernel(kernel_service) as other, running_kernel(kernel_service) as kernel:
        assert (await kernel.run(code)).endswith(DEAD)
        assert (await kernel.model())["end"] == "It sent more at once than can be read."
        assert await other.run("1 + 1") == "2"


@pytest.mark.drill
async def test_gateway_takes_little_memory_when_a_client_does_not_read_a_flood_of_output() -> None:
    code = (
        "import base64, os\nfrom IPython.display import display\n"
        "image = base64.b64encode(os.urandom(6_000_000)).decode()\n"
        "for _ in range(150): display({'image/png': image}, raw=True)"
    )
    with running_service("--warm-kernels", "0") as service:
        async with running_kernel(service.place) as silent:
            gateway = gateway_pid(service.pid)
            await silent.send(code)
            async with connected(silent.http, silent.address, silent.kernel_id) as kernel:
                assert await kernel.run("1 + 1") == "2"
            assert _peak_memory_mib(gateway) < 500


def _peak_memory_mib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:"))
