"""The client detects that a kernel or a server has ended, and never reports an ended kernel as running."""

from __future__ import annotations

import asyncio

import pytest

from chat.python.kernels.client import JupyterClient, KernelClient
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.outputs import ExecutionStatus
from tests.chat.python.kernels.cells import LONG_S, begin_cell, cancel_cell
from tests.chat.python.kernels.conformance.places import MAIN_PLACES, RUN_PLACE, PlaceUnderTest
from tests.kernel_service import kernel_state
from tests.polling import wait_until_awaited

PLACES = MAIN_PLACES
pytestmark = pytest.mark.asyncio(loop_scope="module")

SLEEP = "print('begun', flush=True)\nimport time; time.sleep(600)"
CRASH = "import ctypes; ctypes.string_at(0)"
EXIT = "import os; os._exit(3)"


@pytest.mark.parametrize("code", [EXIT, CRASH])
async def test_running_cell_ends_before_its_time_limit_if_its_kernel_dies(
    own_kernel: KernelClient, place: PlaceUnderTest, code: str
) -> None:
    # The pause lets the kernel send what was printed.
    execution = await own_kernel.execute(f"print('last words', flush=True)\nimport time; time.sleep(0.5)\n{code}")
    assert execution.status is ExecutionStatus.DIED
    assert execution.duration_s < 0.5 + place.differences.death_notice_s
    assert execution.text.startswith("last words\n")
    assert "variables are lost" in execution.text
    assert not own_kernel.is_alive
    assert (await own_kernel.execute("1")).status is ExecutionStatus.DIED
    with pytest.raises(KernelGone):
        await own_kernel.contents()


async def test_connecting_to_a_kernel_that_died_between_two_cells_raises_kernel_gone(
    client: JupyterClient, own_id: str
) -> None:
    async with await client.connect(own_id) as kernel:
        await kernel.execute("value = 1\nimport os, threading\nthreading.Timer(0.3, os._exit, [1]).start()")

    async def connection_error() -> str:
        # Jupyter's own servers start the kernel again under its old id, without its variables.
        try:
            async with await client.connect(own_id):
                return ""
        except KernelGone as error:
            return str(error)

    assert "variables are lost" in await wait_until_awaited(connection_error)

    async def is_ended() -> bool:
        return await kernel_state(client, own_id) == ""

    await wait_until_awaited(is_ended)


async def test_ended_kernel_has_no_state_and_ending_it_again_raises_no_error(client: JupyterClient) -> None:
    kernel_id = await client.start_kernel()

    async def is_idle() -> bool:
        return await kernel_state(client, kernel_id) == "idle"

    # A server learns a little later than the client that the kernel is ready.
    await wait_until_awaited(is_idle)
    await client.shut_down(kernel_id)
    assert await kernel_state(client, kernel_id) == ""
    await client.shut_down(kernel_id)
    await client.interrupt(kernel_id)
    with pytest.raises(KernelGone):
        await client.connect(kernel_id)


@pytest.mark.parametrize("kernel_id", ["", "no such", "../../etc", "00000000-0000-0000-0000-000000000000.abc"])
async def test_connecting_to_an_unknown_kernel_raises_kernel_gone(client: JupyterClient, kernel_id: str) -> None:
    assert await kernel_state(client, kernel_id) == ""
    await client.shut_down(kernel_id)
    with pytest.raises(KernelGone):
        await client.connect(kernel_id)


async def test_second_kernel_does_not_have_variables_of_the_first(
    client: JupyterClient, own_kernel: KernelClient
) -> None:
    await own_kernel.execute("value = 1")
    new_id = await client.start_kernel()
    async with await client.connect(new_id) as kernel:
        assert "NameError" in (await kernel.execute("value")).text
    await client.shut_down(new_id)


async def test_running_cell_ends_if_its_kernel_is_shut_down_by_another_request(
    client: JupyterClient, own_id: str
) -> None:
    async with await client.connect(own_id) as kernel:
        cell = await begin_cell(kernel, SLEEP)
        await client.shut_down(own_id)
        async with asyncio.timeout(60):
            # Jupyter's own servers ask the kernel to end, which interrupts the cell first.
            assert (await cell).status in (ExecutionStatus.DIED, ExecutionStatus.FAILED)
            assert (await kernel.execute("1")).status is ExecutionStatus.DIED
        assert not kernel.is_alive


async def test_kernel_continues_to_run_after_its_connection_is_closed(client: JupyterClient, own_id: str) -> None:
    kernel = await client.connect(own_id)
    await kernel.execute("value = 1")
    await kernel.close()
    await kernel.close()
    assert not kernel.is_alive
    assert (await kernel.execute("1")).status is ExecutionStatus.DIED
    async with await client.connect(own_id) as again:
        assert (await again.execute("print(value)")).text == "1\n"


async def test_two_connections_to_one_kernel_share_its_variables(
    client: JupyterClient, place: PlaceUnderTest, own_id: str
) -> None:
    other_client = JupyterClient(place.place)
    try:
        async with await client.connect(own_id) as first, await other_client.connect(own_id) as second:
            await first.execute("order = []")
            slow = first.execute("import time; order.append(1); time.sleep(0.3); order.append(2)")
            await asyncio.gather(slow, second.execute("order.append(3)"))
            assert sorted(eval((await second.execute("order")).text)) == [1, 2, 3]
            assert (await first.execute("order[0] + 1 == order[1] or order[0] == 3")).text == "True\n"
    finally:
        await other_client.aclose()


async def test_three_kernels_run_code_at_the_same_time(client: JupyterClient) -> None:
    ids = await asyncio.gather(*(client.start_kernel() for _ in range(3)))
    kernels = await asyncio.gather(*map(client.connect, ids))
    cells = await asyncio.gather(*(begin_cell(kernel, SLEEP) for kernel in kernels))
    await asyncio.gather(*map(cancel_cell, cells))
    executions = await asyncio.gather(*(kernel.execute(f"print({n})") for n, kernel in enumerate(kernels)))
    assert [execution.text for execution in executions] == ["0\n", "1\n", "2\n"]
    await asyncio.gather(*(kernel.close() for kernel in kernels))
    await asyncio.gather(*map(client.shut_down, ids))


@pytest.mark.drill
@pytest.mark.parametrize("name", MAIN_PLACES)
async def test_running_cell_ends_if_the_jupyter_server_dies(name: str) -> None:
    with RUN_PLACE[name]() as own_place:
        client = JupyterClient(own_place.place)
        try:
            kernel_id = await client.start_kernel()
            async with await client.connect(kernel_id) as kernel:
                cell = await begin_cell(kernel, SLEEP)
                own_place.server.kill()
                async with asyncio.timeout(60):
                    execution = await cell
                assert execution.status is ExecutionStatus.DIED
                assert "has stopped" in execution.text
                assert not kernel.is_alive
            with pytest.raises(KernelsUnavailable):
                await client.start_kernel()
        finally:
            await client.aclose()


async def test_output_is_kept_if_the_kernel_process_exits_after_it(own_kernel: KernelClient) -> None:
    execution = await own_kernel.execute("print('written', flush=True)\nimport os\nos._exit(0)", limit_s=LONG_S)
    assert execution.status is ExecutionStatus.DIED
    assert execution.text.startswith("written\n")
