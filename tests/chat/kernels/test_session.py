"""Real kernels in the real sandbox. A machine without bubblewrap fails here, with the sentence that says so."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from io import BytesIO

import pytest
import pytest_asyncio
from PIL import Image

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
"""A limit for cells that must not meet one, however busy the machine is."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def session() -> AsyncIterator[Session]:
    """One session for every test that leaves it alive."""
    files = {"data.csv": b"x,y\n1,2\n", "../../up.txt": b"label"}
    async with await Session.start(files) as shared:
        await shared.execute("import matplotlib.pyplot as plt", limit_s=LONG_S)
        yield shared


@pytest_asyncio.fixture(loop_scope="module")
async def own_session() -> AsyncIterator[Session]:
    """A session for a test that ends it."""
    async with await Session.start() as own:
        yield own


def images(outputs: tuple[Output, ...]) -> list[ImageOutput]:
    """The graphs among outputs."""
    return [output for output in outputs if isinstance(output, ImageOutput)]


async def test_text_and_last_value_come_in_order(session: Session) -> None:
    execution = await session.execute("import sys\nprint('a')\nprint('b', file=sys.stderr)\n40 + 2")
    assert execution.status is ExecutionStatus.OK
    assert sorted(execution.text.split()) == ["42", "a", "b"]
    assert TextOutput("stderr", "b\n") in execution.outputs
    assert execution.duration_s > 0


async def test_state_is_kept_between_cells(session: Session) -> None:
    await session.execute("kept = 21")
    assert (await session.execute("print(kept * 2)")).text == "42\n"


async def test_a_plot_gives_a_crisp_png(session: Session) -> None:
    execution = await session.execute("plt.plot([1, 2])\nplt.show()", limit_s=LONG_S)
    (graph,) = images(execution.outputs)
    assert graph.mime_type == "image/png"
    with Image.open(BytesIO(graph.data)) as image:
        assert image.width > 600
        assert image.format == "PNG"


async def test_figures_left_open_come_too_and_two_are_two(session: Session) -> None:
    code = "plt.plot([1, 2])\nplt.show()\nplt.figure()\nplt.plot([2, 1])"
    assert len(images((await session.execute(code, limit_s=LONG_S)).outputs)) == 2


async def test_a_saved_figure_is_a_graph_and_one_saved_and_shown_is_one(session: Session) -> None:
    saved = "plt.figure()\nplt.plot([3, 1])\nplt.savefig('saved.png')\n"
    assert len(images((await session.execute(saved + "plt.close()", limit_s=LONG_S)).outputs)) == 1
    assert len(images((await session.execute(saved + "plt.show()", limit_s=LONG_S)).outputs)) == 1


async def test_an_error_fails_the_cell_with_its_traceback(session: Session) -> None:
    execution = await session.execute("print('before')\n1 / 0")
    assert execution.status is ExecutionStatus.FAILED
    (error,) = [output for output in execution.outputs if isinstance(output, ErrorOutput)]
    assert (error.name, error.value) == ("ZeroDivisionError", "division by zero")
    assert execution.text.startswith("before\nTraceback (most recent call last):")
    assert execution.text.endswith("ZeroDivisionError: division by zero\n")
    assert "\x1b" not in execution.text
    assert (await session.execute("print('after')")).text == "after\n"


async def test_outputs_are_reported_as_they_come(session: Session) -> None:
    seen: list[tuple[float, Output]] = []
    code = "import time\nprint('first', flush=True)\ntime.sleep(0.7)\nprint('second', flush=True)"
    await session.execute(code, on_output=lambda output: seen.append((time.monotonic(), output)))
    assert [output for _, output in seen] == [TextOutput("stdout", "first\n"), TextOutput("stdout", "second\n")]
    assert seen[1][0] - seen[0][0] > 0.3


async def test_files_lie_in_the_working_directory_under_their_labels(session: Session) -> None:
    execution = await session.execute("import os\nprint(open('data.csv').read(), open('up.txt').read(), os.getcwd())")
    assert execution.text == "x,y\n1,2\n label /box\n"


async def test_files_can_be_added_later(session: Session) -> None:
    large = os.urandom(15 * 1024 * 1024)
    await session.add_files({"later.bin": large})
    assert (await session.execute("print(len(open('later.bin', 'rb').read()))")).text == f"{len(large)}\n"


async def test_too_large_files_are_refused(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "FILES_LIMIT_BYTES", 10)
    with pytest.raises(ValueError, match="too large"):
        await session.add_files({"a": bytes(11)})


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(60)"])
async def test_a_cell_past_its_limit_is_interrupted_and_keeps_variables(session: Session, code: str) -> None:
    await session.execute("still = 'here'")
    execution = await session.execute(code, limit_s=0.5)
    assert execution.status is ExecutionStatus.TIMEOUT
    assert execution.duration_s < 0.5 + session_module.INTERRUPT_GRACE_S
    assert execution.text == "TimeoutError: The cell ran longer than 0.5 s.\n"
    assert session.is_alive
    assert (await session.execute("print(still)")).text == "here\n"


async def test_a_cancelled_cell_is_interrupted(session: Session) -> None:
    running = asyncio.create_task(session.execute("import time; time.sleep(60)", limit_s=LONG_S))
    await asyncio.sleep(0.3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await session.execute("print('free again')", limit_s=LONG_S)).text == "free again\n"


async def test_two_cells_at_once_run_one_after_another(session: Session) -> None:
    await session.execute("order = []")
    first = session.execute("import time; order.append(1); time.sleep(0.2); order.append(2)")
    await asyncio.gather(first, session.execute("order.append(3)"))
    assert (await session.execute("order")).text == "[1, 2, 3]\n"


async def test_a_flood_is_cut_with_a_notice_and_the_session_goes_on(session: Session) -> None:
    execution = await session.execute("import os\nwhile True: os.write(1, b'y' * 60_000)", limit_s=LONG_S)
    assert execution.status is ExecutionStatus.FAILED
    assert execution.truncated
    assert "[output cut: more than 1 MB]" in execution.text
    assert execution.text.endswith("OutputLimit: The cell wrote too much and was stopped.\n")
    assert len(execution.text) < TEXT_LIMIT_BYTES + 500
    assert (await session.execute("print('fine')", limit_s=LONG_S)).text == "fine\n"


async def test_one_huge_print_is_cut_and_a_graph_after_it_still_comes(session: Session) -> None:
    execution = await session.execute("print('x' * 12_000_000)\nplt.plot([5])\nplt.show()", limit_s=LONG_S)
    assert execution.status is ExecutionStatus.OK
    assert execution.truncated
    assert len(images(execution.outputs)) == 1


async def test_the_largest_image_that_is_kept_comes_through(session: Session) -> None:
    code = (
        "import base64\nfrom IPython.display import display\n"
        f"data = b'\\x89PNG\\r\\n\\x1a\\n' + bytes({IMAGE_LIMIT_BYTES} - 8)\n"
        "display({'image/png': base64.b64encode(data).decode()}, raw=True)"
    )
    (image,) = images((await session.execute(code, limit_s=LONG_S)).outputs)
    assert len(image.data) == IMAGE_LIMIT_BYTES


async def test_exit_ends_its_cell_only(session: Session) -> None:
    assert (await session.execute("exit()")).status is ExecutionStatus.FAILED
    await asyncio.sleep(0.2)
    assert (await session.execute("print('alive')")).text == "alive\n"


async def test_processes_are_limited_and_outputs_of_children_come(session: Session) -> None:
    code = "import resource, subprocess\nsubprocess.run(['echo', 'child'])\nresource.getrlimit(resource.RLIMIT_NPROC)"
    execution = await session.execute(code)
    assert "child\n" in execution.text
    assert "(64, 64)" in execution.text


async def test_code_that_ignores_the_interrupt_is_killed(own_session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "INTERRUPT_GRACE_S", 0.5)
    execution = await own_session.execute("sum(range(10**12))", limit_s=0.5)
    assert execution.status is ExecutionStatus.TIMEOUT
    assert execution.duration_s < 5
    assert not own_session.is_alive
    assert "could not be interrupted" in execution.text
    assert "variables are lost" in execution.text


async def test_a_kernel_that_dies_is_noticed_within_a_second(own_session: Session) -> None:
    execution = await own_session.execute("import os; print('last words', flush=True); os._exit(3)", limit_s=LONG_S)
    assert execution.status is ExecutionStatus.DIED
    assert execution.duration_s < 1
    assert not own_session.is_alive
    assert "variables are lost" in execution.text
    assert (await own_session.execute("1")).status is ExecutionStatus.DIED


async def test_memory_of_all_processes_together_is_limited(
    own_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "MEMORY_LIMIT_BYTES", 200 * 1024 * 1024)
    code = "import os, time\nfor _ in range(3): os.fork()\nheld = b'x' * 40_000_000\ntime.sleep(600)"
    execution = await own_session.execute(code, limit_s=LONG_S)
    assert execution.status is ExecutionStatus.DIED
    assert "GiB of memory" in execution.text


async def test_a_message_above_the_limit_ends_the_session_and_not_the_server(own_session: Session) -> None:
    code = (
        "kernel = get_ipython().kernel\n"
        "content = {'name': 'stdout', 'text': 'x' * 17_000_000}\n"
        "kernel.session.send(kernel.iopub_socket, 'stream', content, parent=kernel.get_parent())\n"
        "import time; time.sleep(60)"
    )
    execution = await own_session.execute(code, limit_s=LONG_S)
    assert execution.status is ExecutionStatus.DIED
    assert "more at once than can be read" in execution.text


async def test_a_forged_message_ends_the_session(own_session: Session) -> None:
    code = (
        "kernel = get_ipython().kernel\nkernel.session.key = b'forged'\n"
        "kernel.session.send(kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': 'x'})\n"
        "import time; time.sleep(60)"
    )
    assert (await own_session.execute(code, limit_s=LONG_S)).status is ExecutionStatus.DIED


async def test_a_closed_session_says_so_and_may_be_closed_again() -> None:
    closed = await Session.start()
    await closed.close()
    await closed.close()
    assert not closed.is_alive
    assert (await closed.execute("1")).status is ExecutionStatus.DIED
