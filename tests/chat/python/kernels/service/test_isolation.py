"""The sandbox holds on every launch path of the service, and the service refuses to run code if it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chat.python.kernels import sandbox
from chat.python.kernels.places import LocalService
from chat.python.kernels.sandbox import ENVIRONMENT
from chat.python.kernels.service import self_test
from tests.chat.python.kernels.isolation import AttemptResult, open_targets, probe_scripts
from tests.chat.python.kernels.service.raw_kernel import RawKernel, running_kernel
from tests.kernel_service import running_service
from tests.polling import wait_until_async

pytestmark = pytest.mark.no_rerun

RUN_PROBES = """
import json, os, pathlib, subprocess, sys
for path, text in {scripts!r}.items():
    file = pathlib.Path("/box" + path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
names = {names!r}
process = subprocess.run(
    [sys.executable, "-m", "tests.chat.python.kernels.probes", {targets!r}],
    cwd="/box", env={{name: os.environ[name] for name in names}}, capture_output=True, text=True,
)
print(process.stdout or process.stderr)
"""


async def attempt_escapes(kernel: RawKernel) -> list[AttemptResult]:
    """Make every attempt in a kernel, from a process that the code starts."""
    with open_targets() as targets:
        code = RUN_PROBES.format(scripts=probe_scripts(), names=list(ENVIRONMENT), targets=json.dumps(targets))
        text = await kernel.run(code)
    return [AttemptResult(name, *result) for name, result in json.loads(text).items()]


@pytest.mark.parametrize("warm_kernels", [0, 1])
async def test_every_escape_attempt_is_denied_in_a_kernel_of_the_service(warm_kernels: int) -> None:
    with running_service("--warm-kernels", str(warm_kernels)) as service:
        await service.place.address()
        await wait_until_async(lambda: service.place.status().warm_kernels == warm_kernels, 60)
        async with running_kernel(service.place) as kernel:
            results = await attempt_escapes(kernel)
    assert [result for result in results if not result.is_denied] == []
    assert len(results) >= 45


async def test_no_secret_of_the_service_is_visible_in_a_kernel(kernel_service: LocalService) -> None:
    address = await kernel_service.address()
    code = (
        "import glob, os\nseen = repr(dict(os.environ))\n"
        "for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n"
        "    try: seen += repr(open(path, 'rb').read())\n    except OSError as error: seen += repr(error)\n"
        "print(seen)"
    )
    async with running_kernel(kernel_service) as kernel:
        text = await kernel.run(code)
    assert "MPLBACKEND" in text
    assert address.token not in text
    assert "JUPYTER" not in text


async def test_status_says_that_kernels_run_without_a_sandbox_if_an_option_allows_it() -> None:
    with running_service("--without-sandbox", "--warm-kernels", "0") as service:
        async with running_kernel(service.place) as kernel:
            assert not service.place.status().is_sandboxed
            assert await kernel.run("import os; os.path.exists('/bootstrap.py')") == "False"
            await kernel.run("value = 1")
            assert await kernel.run("value + 1") == "2"
            assert "TOKEN" not in await kernel.run("import os; str(os.environ)")
            folder = await kernel.run("import os; print(os.getcwd())")
            assert str(service.directory) in folder


async def test_self_test_fails_if_the_sandbox_does_not_block_the_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await self_test.run(tmp_path)
    arguments = sandbox._sandbox_arguments
    monkeypatch.setattr(
        sandbox, "_sandbox_arguments", lambda *given: [word for word in arguments(*given) if word != "--unshare-net"]
    )
    with pytest.raises(sandbox.SandboxUnavailable, match=r"does not hold .*the network is reachable.* No code is run"):
        await self_test.run(tmp_path)
