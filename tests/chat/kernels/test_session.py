"""Sessions run real kernels in the real sandbox; without bubblewrap these tests fail."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from io import BytesIO

import pytest
import pytest_asyncio
from PIL import Image

from chat.kernels import process as process_module
from chat.kernels import session as session_module
from chat.kernels.outputs import (
    IMAGE_LIMIT_BYTES,
    TEXT_LIMIT_BYTES,
    ErrorOutput,
    ExecutionStatus,
    ImageOutput,
    Output,
    TextOutput,
)
from chat.kernels.session import Session

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONG_S = 120.0
"""A time limit that no cell reaches, even on a busy machine."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def session() -> AsyncIterator[Session]:
    """One session for all tests that leave it alive."""
    files = {"data.csv": b"x,y\n1,2\n", "../../up.txt": b"label"}
    async with await Session.start(files) as shared:
        await shared.execute("import matplotlib.pyplot as plt", limit_s=LONG_S)
        yield shared


@pytest_asyncio.fixture(loop_scope="module")
async def own_session() -> AsyncIterator[Session]:
    """A session for a test that may end it."""
    async with await Session.start() as own:
        yield own


def images(outputs: tuple[Output, ...]) -> list[ImageOutput]:
    """Return the images among outputs."""
    return [output for output in outputs if isinstance(output, ImageOutput)]


async def test_text_and_value_of_the_last_expression_are_outputs(session: Session) -> None:
    execution = await session.execute("import sys\nprint('a')\nprint('b', file=sys.stderr)\n40 + 2")
    assert execution.status is ExecutionStatus.OK
    assert sorted(execution.text.split()) == ["42", "a", "b"]
    assert TextOutput("stderr", "b\n") in execution.outputs
    assert execution.duration_s > 0


async def test_state_is_kept_between_cells(session: Session) -> None:
    await session.execute("value = 21")
    assert (await session.execute("print(value * 2)")).text == "42\n"


async def test_plot_gives_a_png_of_high_resolution(session: Session) -> None:
    execution = await session.execute("plt.plot([1, 2])\nplt.show()", limit_s=LONG_S)
    (graph,) = images(execution.outputs)
    assert graph.mime_type == "image/png"
    with Image.open(BytesIO(graph.data)) as image:
        assert image.width > 600
        assert image.format == "PNG"


async def test_figures_left_open_are_displayed_at_the_end_of_the_cell(session: Session) -> None:
    code = "plt.plot([1, 2])\nplt.show()\nplt.figure()\nplt.plot([2, 1])"
    assert len(images((await session.execute(code, limit_s=LONG_S)).outputs)) == 2


async def test_saved_figure_is_one_graph_also_if_it_is_displayed(session: Session) -> None:
    save = "plt.figure()\nplt.plot([3, 1])\nplt.savefig('saved.png')\n"
    assert len(images((await session.execute(save + "plt.close()", limit_s=LONG_S)).outputs)) == 1
    assert len(images((await session.execute(save + "plt.show()", limit_s=LONG_S)).outputs)) == 1


async def test_error_fails_the_cell_with_its_traceback(session: Session) -> None:
    execution = await session.execute("print('before')\n1 / 0")
    assert execution.status is ExecutionStatus.FAILED
    (error,) = [output for output in execution.outputs if isinstance(output, ErrorOutput)]
    assert (error.name, error.value) == ("ZeroDivisionError", "division by zero")
    assert execution.text.startswith("before\nTraceback (most recent call last):")
    assert execution.text.endswith("ZeroDivisionError: division by zero\n")
    assert "\x1b" not in execution.text
    assert (await session.execute("print('after')")).text == "after\n"


async def test_outputs_are_reported_while_the_cell_runs(session: Session) -> None:
    outputs: asyncio.Queue[Output] = asyncio.Queue()
    code = "import time\nprint('first', flush=True)\ntime.sleep(60)"
    cell = asyncio.create_task(session.execute(code, limit_s=LONG_S, on_output=outputs.put_nowait))
    assert await outputs.get() == TextOutput("stdout", "first\n")
    assert not cell.done()
    cell.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cell


async def test_files_are_in_the_working_directory_under_their_labels(session: Session) -> None:
    execution = await session.execute("import os\nprint(open('data.csv').read(), open('up.txt').read(), os.getcwd())")
    assert execution.text == "x,y\n1,2\n label /box\n"


async def test_files_can_be_added_later(session: Session) -> None:
    large = os.urandom(15 * 1024 * 1024)
    await session.add_files({"later.bin": large})
    assert (await session.execute("print(len(open('later.bin', 'rb').read()))")).text == f"{len(large)}\n"


async def test_files_above_the_size_limit_are_refused(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "FILES_LIMIT_BYTES", 10)
    with pytest.raises(ValueError, match="too large"):
        await session.add_files({"a": bytes(11)})


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(60)"])
async def test_cell_past_its_time_limit_is_interrupted_and_keeps_variables(session: Session, code: str) -> None:
    await session.execute("variable = 'here'")
    execution = await session.execute(code, limit_s=0.5)
    assert execution.status is ExecutionStatus.TIMEOUT
    assert execution.text == "TimeoutError: The cell ran longer than 0.5 s.\n"
    assert session.is_alive
    assert (await session.execute("print(variable)")).text == "here\n"


async def test_cancelled_cell_is_interrupted(session: Session) -> None:
    has_output = asyncio.Event()
    code = "print('running', flush=True)\nimport time; time.sleep(60)"
    cell = asyncio.create_task(session.execute(code, limit_s=LONG_S, on_output=lambda _: has_output.set()))
    await has_output.wait()
    cell.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cell
    assert (await session.execute("print('free again')", limit_s=LONG_S)).text == "free again\n"


async def test_concurrent_cells_run_one_after_another(session: Session) -> None:
    await session.execute("order = []")
    first = session.execute("import time; order.append(1); time.sleep(0.2); order.append(2)")
    await asyncio.gather(first, session.execute("order.append(3)"))
    assert (await session.execute("order")).text == "[1, 2, 3]\n"


async def test_flood_is_cut_with_a_notice_and_the_session_stays_usable(session: Session) -> None:
    execution = await session.execute("import os\nwhile True: os.write(1, b'y' * 60_000)", limit_s=LONG_S)
    assert execution.status is ExecutionStatus.FAILED
    assert execution.is_truncated
    assert "[output cut: more than 1 MB]" in execution.text
    assert execution.text.endswith("OutputLimit: The cell wrote too much and was stopped.\n")
    assert len(execution.text) < TEXT_LIMIT_BYTES + 500
    assert (await session.execute("print('fine')", limit_s=LONG_S)).text == "fine\n"


async def test_huge_print_is_cut_and_a_graph_after_it_is_an_output(session: Session) -> None:
    execution = await session.execute("print('x' * 12_000_000)\nplt.plot([5])\nplt.show()", limit_s=LONG_S)
    assert execution.status is ExecutionStatus.OK
    assert execution.is_truncated
    assert len(images(execution.outputs)) == 1


async def test_image_of_the_largest_size_is_an_output(session: Session) -> None:
    code = (
        "import base64\nfrom IPython.display import display\n"
        f"data = b'\\x89PNG\\r\\n\\x1a\\n' + bytes({IMAGE_LIMIT_BYTES} - 8)\n"
        "display({'image/png': base64.b64encode(data).decode()}, raw=True)"
    )
    (image,) = images((await session.execute(code, limit_s=LONG_S)).outputs)
    assert len(image.data) == IMAGE_LIMIT_BYTES


async def test_exit_ends_only_its_cell(session: Session) -> None:
    assert (await session.execute("exit()")).status is ExecutionStatus.FAILED
    # ipykernel's own `exit()` would end the kernel a moment later.
    await asyncio.sleep(0.2)
    assert (await session.execute("print('alive')")).text == "alive\n"


async def test_processes_are_limited_and_outputs_of_children_are_captured(session: Session) -> None:
    code = "import resource, subprocess\nsubprocess.run(['echo', 'child'])\nresource.getrlimit(resource.RLIMIT_NPROC)"
    execution = await session.execute(code)
    assert "child\n" in execution.text
    assert "(64, 64)" in execution.text


async def test_code_that_ignores_the_interrupt_is_killed(own_session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "INTERRUPT_GRACE_S", 0.5)
    execution = await own_session.execute("sum(range(10**12))", limit_s=0.5)
    assert execution.status is ExecutionStatus.TIMEOUT
    assert not own_session.is_alive
    assert "could not be interrupted" in execution.text
    assert "variables are lost" in execution.text


async def test_death_of_the_kernel_ends_the_cell_before_its_time_limit(own_session: Session) -> None:
    execution = await own_session.execute("import os; print('last words', flush=True); os._exit(3)", limit_s=LONG_S)
    assert execution.status is ExecutionStatus.DIED
    assert not own_session.is_alive
    assert "variables are lost" in execution.text
    assert (await own_session.execute("1")).status is ExecutionStatus.DIED


async def test_memory_of_all_processes_of_a_session_is_limited(
    own_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "MEMORY_LIMIT_BYTES", 200 * 1024 * 1024)
    code = "import os, time\nfor _ in range(3): os.fork()\nheld = b'x' * 40_000_000\ntime.sleep(600)"
    execution = await own_session.execute(code, limit_s=LONG_S)
    assert execution.status is ExecutionStatus.DIED
    assert "GiB of memory" in execution.text


async def test_message_above_the_limit_ends_the_session_and_not_the_server(own_session: Session) -> None:
    code = (
        "kernel = get_ipython().kernel\n"
        "content = {'name': 'stdout', 'text': 'x' * 17_000_000}\n"
        "kernel.session.send(kernel.iopub_socket, 'stream', content, parent=kernel.get_parent())\n"
        "import time; time.sleep(60)"
    )
    execution = await own_session.execute(code, limit_s=LONG_S)
    assert execution.status is ExecutionStatus.DIED
    assert "more at once than can be read" in execution.text


async def test_forged_message_ends_the_session(own_session: Session) -> None:
    code = (
        "kernel = get_ipython().kernel\nkernel.session.key = b'forged'\n"
        "kernel.session.send(kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': 'x'})\n"
        "import time; time.sleep(60)"
    )
    assert (await own_session.execute(code, limit_s=LONG_S)).status is ExecutionStatus.DIED


async def test_closed_session_refuses_cells_and_may_be_closed_again() -> None:
    closed = await Session.start()
    await closed.close()
    await closed.close()
    assert not closed.is_alive
    assert (await closed.execute("1")).status is ExecutionStatus.DIED
