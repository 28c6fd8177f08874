"""Code that runs too long, writes too much or takes too much memory is stopped, and the caller reads why."""

from __future__ import annotations

import pytest

from chat.python.kernels import request_runner
from chat.python.kernels.client import JupyterClient, KernelClient
from chat.python.kernels.errors import KernelGone
from chat.python.kernels.output_limits import TEXT_LIMIT_BYTES
from chat.python.kernels.outputs import ExecutionStatus, ImageOutput
from tests.chat.python.kernels.cells import LONG_S, begin_cell, cancel_cell
from tests.chat.python.kernels.conformance.places import MAIN_PLACES, PlaceUnderTest
from tests.kernel_service import kernel_state

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLACES = MAIN_PLACES

SHORT_S = 0.3
GRACE_S = 0.5
ENDLESS_C_LOOP = "sum(range(10**12))"
BEGIN = "print('begun', flush=True)"
IGNORES_INTERRUPTS = f"""
import time
while True:
    try:
        {BEGIN}
        time.sleep(60)
    except BaseException:
        pass
"""
IGNORES_ONE_INTERRUPT = f"""
try:
    {BEGIN}
    time.sleep(600)
except KeyboardInterrupt:
    time.sleep(600)
"""
PNG = "__import__('base64').b64encode(b'\\x89PNG\\r\\n\\x1a\\nrest').decode()"
SHOW_PNG = f"display({{'image/png': {PNG}}}, raw=True)"


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that cannot be interrupted are killed earlier."""
    monkeypatch.setattr(request_runner, "INTERRUPT_GRACE_S", GRACE_S)
    monkeypatch.setattr("chat.python.kernels.client._NEXT_INTERRUPT_S", GRACE_S / 2)
    monkeypatch.setattr("chat.python.kernels.client.INTERRUPT_GRACE_S", GRACE_S)


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(60)"])
async def test_cell_past_its_time_limit_is_interrupted_and_keeps_variables(kernel: KernelClient, code: str) -> None:
    await kernel.execute("variable = 'here'")
    execution = await kernel.execute(code, limit_s=SHORT_S)
    assert execution.status is ExecutionStatus.TIMEOUT
    assert execution.text == f"TimeoutError: The cell ran longer than {SHORT_S} s.\n"
    assert kernel.is_alive
    assert (await kernel.execute("print(variable)")).text == "here\n"


async def test_output_before_the_time_limit_is_kept(kernel: KernelClient) -> None:
    execution = await kernel.execute("print('begun', flush=True)\nwhile True: pass", limit_s=SHORT_S)
    assert execution.text.startswith("begun\nTimeoutError")


@pytest.mark.usefixtures("short_grace")
@pytest.mark.parametrize("code", [ENDLESS_C_LOOP, IGNORES_INTERRUPTS])
async def test_kernel_is_ended_if_its_code_cannot_be_interrupted(own_kernel: KernelClient, code: str) -> None:
    execution = await own_kernel.execute(code, limit_s=SHORT_S)
    assert execution.status is ExecutionStatus.TIMEOUT
    assert not own_kernel.is_alive
    assert "could not be interrupted" in execution.text
    assert "variables are lost" in execution.text
    assert execution.duration_s < SHORT_S + GRACE_S + 5
    assert (await own_kernel.execute("1")).status is ExecutionStatus.DIED


async def test_cell_fails_if_its_kernel_is_interrupted_by_another_request(client: JupyterClient, own_id: str) -> None:
    async with await client.connect(own_id) as kernel:
        cell = await begin_cell(kernel, f"kept = 1\n{BEGIN}\nimport time; time.sleep(60)")
        await client.interrupt(own_id)
        execution = await cell
        assert execution.status is ExecutionStatus.FAILED
        assert "KeyboardInterrupt" in execution.text
        assert (await kernel.execute("print(kept)")).text == "1\n"


async def test_cancelled_cell_is_interrupted(kernel: KernelClient) -> None:
    await cancel_cell(await begin_cell(kernel, f"{BEGIN}\nimport time; time.sleep(60)"))
    assert (await kernel.execute("print('free again')", limit_s=LONG_S)).text == "free again\n"


@pytest.mark.parametrize("code", [f"{BEGIN}; time.sleep(600)", IGNORES_ONE_INTERRUPT])
async def test_cell_left_running_by_a_lost_client_is_interrupted_when_the_next_client_connects(
    client: JupyterClient, own_id: str, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setattr("chat.python.kernels.client.INTERRUPT_GRACE_S", 60.0)
    await leave_a_cell_running(client, own_id, f"kept = 1\nimport time\n{code}")
    async with await client.connect(own_id) as kernel:
        assert (await kernel.execute("print(kept)")).text == "1\n"


@pytest.mark.usefixtures("short_grace")
async def test_kernel_is_ended_if_a_cell_left_running_by_a_lost_client_cannot_be_interrupted(
    client: JupyterClient, own_id: str
) -> None:
    await leave_a_cell_running(client, own_id, IGNORES_INTERRUPTS)
    with pytest.raises(KernelGone, match="variables are lost"):
        await client.connect(own_id)


async def leave_a_cell_running(client: JupyterClient, kernel_id: str, code: str) -> None:
    """Start a cell and break the connection, as a web server does that is killed.

    `code`: does BEGIN where it is to be interrupted.
    """
    kernel = await client.connect(kernel_id)
    cell = await begin_cell(kernel, code)
    # `close` returns while the cell runs on; only a cancelled cell is interrupted.
    await kernel.close()
    assert (await cell).status is ExecutionStatus.DIED
    assert await kernel_state(client, kernel_id) == "busy"


async def test_endless_output_is_cut_and_the_kernel_stays_usable(kernel: KernelClient, place: PlaceUnderTest) -> None:
    drops_output = place.differences.drops_fast_output
    # Without a pause ipykernel itself collects gigabytes, because it waits for no reader.
    code = "import time\nwhile True:\n    print('y' * 60_000)\n    time.sleep(0.001)"
    execution = await kernel.execute(code, limit_s=4 if drops_output else LONG_S)
    assert execution.is_truncated
    assert "[output cut: " in execution.text
    assert len(execution.text) < TEXT_LIMIT_BYTES + 500
    if drops_output:
        # The client does not see output that the server drops, so it does not stop the cell before its time limit.
        assert execution.status is ExecutionStatus.TIMEOUT
    else:
        assert execution.status is ExecutionStatus.FAILED
        assert execution.text.endswith("OutputLimit: The cell wrote too much and was stopped.\n")
    assert kernel.is_alive
    assert (await kernel.execute("print('fine')", limit_s=LONG_S)).text == "fine\n"


async def test_cell_that_displays_outputs_without_end_is_stopped(kernel: KernelClient) -> None:
    code = "import time\nwhile True:\n    display({'text/html': 'y' * 500_000}, raw=True)\n    time.sleep(0.005)"
    execution = await kernel.execute(code, limit_s=LONG_S)
    assert execution.status is ExecutionStatus.FAILED
    assert execution.text.endswith("OutputLimit: The cell wrote too much and was stopped.\n")
    assert (await kernel.execute("print('fine')", limit_s=LONG_S)).text == "fine\n"


async def test_print_of_a_gigabyte_is_cut_or_fails_with_a_memory_error(
    own_kernel: KernelClient, place: PlaceUnderTest
) -> None:
    execution = await own_kernel.execute("print('x' * 10**9)", limit_s=LONG_S)
    assert len(execution.text) < TEXT_LIMIT_BYTES + 5000
    if place.differences.limits_output_in_kernel:
        assert execution.text.endswith("OutputLimit: The cell wrote too much and was stopped.\n")
        assert (await own_kernel.execute("print('fine')", limit_s=LONG_S)).text == "fine\n"
    else:
        # ipykernel copies the text several times and reaches the limit of its memory, in the cell or outside of it.
        assert "MemoryError" in execution.text


async def test_output_of_many_large_prints_is_cut_and_the_kernel_stays_usable(
    own_kernel: KernelClient, place: PlaceUnderTest
) -> None:
    count = 10_000 if place.differences.limits_output_in_kernel else 1000
    execution = await own_kernel.execute(f"for _ in range({count}): print('x' * 100_000)", limit_s=LONG_S)
    assert execution.is_truncated
    assert len(execution.text) < TEXT_LIMIT_BYTES + 5000
    assert (await own_kernel.execute("print('fine')", limit_s=LONG_S)).text == "fine\n"


async def test_graph_is_still_an_output_after_text_that_was_cut(kernel: KernelClient) -> None:
    execution = await kernel.execute(f"print('x' * 12_000_000)\n{SHOW_PNG}", limit_s=LONG_S)
    assert execution.status is ExecutionStatus.OK
    assert execution.is_truncated
    assert any(isinstance(output, ImageOutput) for output in execution.outputs)


async def test_message_above_the_size_limit_ends_the_kernel_and_not_the_server(
    client: JupyterClient, own_kernel: KernelClient, own_id: str
) -> None:
    code = "display({'text/html': 'x' * 17_000_000}, raw=True)\nimport time; time.sleep(60)"
    execution = await own_kernel.execute(code, limit_s=LONG_S)
    assert execution.status is ExecutionStatus.DIED
    assert "It sent more at once than can be read" in execution.text
    assert "variables are lost" in execution.text
    assert not own_kernel.is_alive
    other_id = await client.start_kernel()
    async with await client.connect(other_id) as other:
        assert (await other.execute("print(1)")).text == "1\n"
    await client.shut_down(other_id)


async def test_json_display_with_very_many_values_is_replaced_by_a_notice(kernel: KernelClient) -> None:
    code = "display({'application/json': [[]] * 1_000_000}, raw=True)\nprint('after')"
    execution = await kernel.execute(code, limit_s=LONG_S)
    assert execution.is_truncated
    assert "[output left out: " in execution.text
    assert execution.text.endswith("after\n")


async def test_kernel_is_ended_or_gets_a_memory_error_if_its_processes_use_too_much_memory(
    own_kernel: KernelClient, place: PlaceUnderTest
) -> None:
    code = "import os, time\nfor _ in range(3): os.fork()\nheld = b'x' * 300_000_000\ntime.sleep({})"
    if place.differences.limits_memory:
        execution = await own_kernel.execute(code.format(60), limit_s=LONG_S)
        assert execution.status is ExecutionStatus.DIED
        assert "memory" in execution.text
        assert "variables are lost" in execution.text
    else:
        # Nothing stops this code here. Only the address space of each process is limited.
        execution = await own_kernel.execute("held = b'x' * 3_000_000_000", limit_s=LONG_S)
        assert execution.status is ExecutionStatus.FAILED
        assert "MemoryError" in execution.text
