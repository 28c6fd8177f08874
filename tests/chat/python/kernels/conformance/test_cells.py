"""Cells of one kernel share their state, and all that they show becomes outputs."""

from __future__ import annotations

import asyncio
import re
from io import BytesIO

import pytest
from PIL import Image

from chat.python.kernels.client import KernelClient
from chat.python.kernels.output_limits import IMAGE_LIMIT_BYTES
from chat.python.kernels.outputs import (
    DisplayOutput,
    ErrorOutput,
    ExecutionStatus,
    FileOutput,
    ImageOutput,
    Output,
    Redrawn,
    TextOutput,
)
from tests.chat.python.kernels.cells import LONG_S, cancel_cell

pytestmark = pytest.mark.asyncio(loop_scope="module")


def images(outputs: tuple[Output, ...]) -> list[ImageOutput]:
    """Return the images among outputs."""
    return [output for output in outputs if isinstance(output, ImageOutput)]


def displays(outputs: tuple[Output, ...]) -> list[DisplayOutput]:
    """Return the MIME bundles among outputs."""
    return [output for output in outputs if isinstance(output, DisplayOutput)]


async def test_outputs_contain_printed_text_and_the_value_of_the_last_expression(kernel: KernelClient) -> None:
    execution = await kernel.execute("import sys\nprint('a')\nprint('b', file=sys.stderr)\n40 + 2")
    assert execution.status is ExecutionStatus.OK
    assert sorted(execution.text.split()) == ["42", "a", "b"]
    assert TextOutput("stderr", "b\n") in execution.outputs
    assert execution.duration_s > 0
    assert not execution.is_truncated


async def test_state_is_kept_between_cells(kernel: KernelClient) -> None:
    await kernel.execute("value = 21")
    assert (await kernel.execute("print(value * 2)")).text == "42\n"


async def test_error_fails_the_cell_with_its_traceback(kernel: KernelClient) -> None:
    execution = await kernel.execute("print('before')\n1 / 0")
    assert execution.status is ExecutionStatus.FAILED
    (error,) = [output for output in execution.outputs if isinstance(output, ErrorOutput)]
    assert (error.name, error.value) == ("ZeroDivisionError", "division by zero")
    assert execution.text.startswith("before\n")
    assert execution.text.endswith("ZeroDivisionError: division by zero\n")
    assert "\x1b" not in execution.text
    assert (await kernel.execute("print('after')")).text == "after\n"


async def test_cell_with_a_syntax_error_fails(kernel: KernelClient) -> None:
    execution = await kernel.execute("for")
    assert execution.status is ExecutionStatus.FAILED
    assert "SyntaxError" in execution.text


NOT_HERE = "ipykernel/", "IPython/", "site-packages"


async def test_output_of_help_and_of_warnings_contains_no_paths(kernel: KernelClient) -> None:
    execution = await kernel.execute("import warnings\nwarnings.warn('careful')\nlen?", limit_s=LONG_S)
    assert re.search(r"^Cell In\[\d+\], line 2: UserWarning: careful$", execution.text, re.MULTILINE)
    assert "Return the number of items in a container." in execution.text
    assert [path for path in NOT_HERE if path in execution.text] == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("name = input('name? ')", "EOFError: Nobody can type here"),
        ("import getpass\ngetpass.getpass()", "EOFError: Nobody can type here"),
        ("breakpoint()", "RuntimeError: No debugger can be used here"),
        ("import pdb; pdb.set_trace()\nx = 1", "RuntimeError: No debugger can be used here"),
        ("import asyncio\nasyncio.run(asyncio.sleep(0))", "write `await main()`"),
    ],
)
async def test_input_debuggers_and_asyncio_run_fail_with_an_error_that_says_why(
    kernel: KernelClient, code: str, words: str
) -> None:
    execution = await kernel.execute(code, limit_s=LONG_S)
    assert execution.status is ExecutionStatus.FAILED
    assert words in execution.text.splitlines()[-1]
    assert "Warning" not in execution.text
    assert [path for path in NOT_HERE if path in execution.text] == []
    assert (await kernel.execute("print('alive')")).text == "alive\n"


@pytest.mark.parametrize("code", ["exit()", "quit()", "exit(0)", "import sys\nsys.exit()", "raise SystemExit(0)"])
async def test_exit_with_no_status_or_status_0_ends_the_cell_without_an_error(kernel: KernelClient, code: str) -> None:
    execution = await kernel.execute(f"print('before')\n{code}")
    assert (execution.status, execution.text) == (ExecutionStatus.OK, "before\n")
    assert (await kernel.execute("print('alive')")).text == "alive\n"


@pytest.mark.parametrize(("argument", "said"), [("3", "3"), ("'too few rows'", "too few rows")])
async def test_sys_exit_with_a_status_or_message_fails_the_cell_and_the_output_shows_the_argument(
    kernel: KernelClient, argument: str, said: str
) -> None:
    execution = await kernel.execute(f"import sys\nsys.exit({argument})")
    assert (execution.status, execution.text) == (ExecutionStatus.FAILED, f"SystemExit: {said}\n")
    assert (await kernel.execute("print('alive')")).text == "alive\n"


async def test_tracebacks_are_short_and_contain_no_path_of_the_server(kernel: KernelClient) -> None:
    code = "import json\ndef parse(text):\n    return json.loads(text)\nparse('{')"
    text = (await kernel.execute(code)).text
    assert text.index("parse('{')") < text.index('File "json/__init__.py"')
    assert [path for path in (*NOT_HERE, "/lib/") if path in text] == []
    recursion = (await kernel.execute("def a(n): return b(n)\ndef b(n): return a(n)\na(1)", limit_s=LONG_S)).text
    assert len(recursion.splitlines()) <= 40
    assert recursion.endswith("RecursionError: maximum recursion depth exceeded\n")
    silent = "class Silent(Exception):\n    def __str__(self): return 1 / 0\nraise Silent"
    assert (await kernel.execute(silent)).text.endswith("Silent: <exception str() failed>\n")
    group = (await kernel.execute("raise ExceptionGroup('two', [ValueError(1), TypeError(2)])")).text
    assert "| ValueError: 1" in group
    syntax = (await kernel.execute("x = (1,\ny = 2")).text.splitlines()
    assert syntax[-2].strip().startswith("^")


@pytest.mark.parametrize("code", ["%pip install nothing-here", "!pip install -q nothing-here", "import nothing_here"])
async def test_error_for_a_missing_package_says_that_packages_cannot_be_installed(
    kernel: KernelClient, code: str
) -> None:
    if (await kernel.execute("import os\nprint('PLOTLINE_KERNEL' in os.environ)")).text != "True\n":
        pytest.skip("the operator of another server decides what is installed")
    execution = await kernel.execute(code)
    assert "Packages cannot be installed here" in execution.text.splitlines()[-1]
    assert "pandas" in execution.text
    assert "restart the kernel" not in execution.text
    assert "Version" in (await kernel.execute("!pip list", limit_s=LONG_S)).text
    lookup = await kernel.execute("raise OSError(-3, 'Temporary failure in name resolution')")
    assert "There is no internet here." in lookup.text.splitlines()[-1]


async def test_shown_plot_is_an_output_in_png_format(kernel: KernelClient) -> None:
    code = "import matplotlib.pyplot as plt\nplt.rcParams['figure.dpi'] = 120\nplt.plot([1, 2])\nplt.show()"
    execution = await kernel.execute(code, limit_s=LONG_S)
    (graph,) = images(execution.outputs)
    assert graph.mime_type == "image/png"
    with Image.open(BytesIO(graph.data)) as image:
        assert image.width > 600
        assert image.format == "PNG"
    assert execution.text == ""


async def test_saved_figure_becomes_another_graph_if_it_looks_different_from_a_shown_one(kernel: KernelClient) -> None:
    new = "plt.figure(figsize=(1, 1)); "
    code = f"""import matplotlib.pyplot as plt
{new}plt.plot([1, 2]); plt.show()
{new}plt.plot([1, 2], '--'); plt.savefig('dashed.png'); plt.close()
{new}plt.imshow([[1, 2]], cmap='gray'); plt.show()
{new}plt.imshow([[1, 2]], cmap='viridis'); plt.savefig('coloured.png'); plt.close()
"""
    execution = await kernel.execute(code, limit_s=LONG_S)
    assert execution.text == ""
    assert len(images(execution.outputs)) == 4


async def test_output_of_a_data_frame_has_an_html_form_and_a_text_form(kernel: KernelClient) -> None:
    code = "import pandas as pd\ntable = pd.DataFrame({'a': [1, 2]})\ntable"
    execution = await kernel.execute(code, limit_s=LONG_S)
    (table,) = displays(execution.outputs)
    assert "<table" in str(table.bundle["text/html"])
    assert str(table.bundle["text/plain"]).split() == ["a", "0", "1", "1", "2"]
    assert execution.text.split() == ["a", "0", "1", "1", "2"]


async def test_series_is_shown_as_a_table_and_a_table_with_900_rows_shows_all_of_them(kernel: KernelClient) -> None:
    code = "import pandas as pd\npd.Series([5, 6], index=['x', 'y'], name='n')"
    (series,) = displays((await kernel.execute(code, limit_s=LONG_S)).outputs)
    assert ["x", "5"] in [re.findall(r">(\w+)<", row) for row in str(series.bundle["text/html"]).split("<tr>")]
    assert "Name: n, dtype: int64" in str(series.bundle["text/plain"])
    rows = {}
    for count in (900, 5_000):
        execution = await kernel.execute(f"pd.DataFrame({{'a': range({count}), 'b': 1}})", limit_s=LONG_S)
        (table,) = displays(execution.outputs)
        rows[count] = str(table.bundle["text/html"]).count("<tr")
    chosen = "pd.set_option('display.max_rows', 20)\npd.DataFrame({'a': range(900)})"
    (table,) = displays((await kernel.execute(chosen, limit_s=LONG_S)).outputs)
    await kernel.execute("pd.reset_option('display.max_rows')")
    assert rows == {900: 901, 5_000: 12}
    assert str(table.bundle["text/html"]).count("<tr") == 12


MEDIA = """\
import base64, io
import numpy as np, matplotlib.pyplot as plt
from IPython.display import HTML, Audio, IFrame, Image, Markdown, display
from matplotlib.animation import FuncAnimation, PillowWriter
figure, axes = plt.subplots(figsize=(2, 1), dpi=50)
(line,) = axes.plot([1, 2])
move = FuncAnimation(figure, lambda step: line.set_ydata([step, 2]) or (line,), frames=3)
move.save('wave.gif', writer=PillowWriter(fps=8))
plt.close(figure)
display(Image(filename='wave.gif'))
display(HTML(move.to_jshtml(fps=8)))
plt.close('all')
display(Audio(np.linspace(-1, 1, 800), rate=8000))
display(IFrame('https://example.com/page', 300, 200))
display(Markdown('**The mean is 4.2**'))
buffer = io.BytesIO()
plt.figure(figsize=(1, 1)); plt.savefig(buffer, format='png'); plt.close()
HTML('<h3>Result</h3><img src="data:image/png;base64,' + base64.b64encode(buffer.getvalue()).decode() + '">')
"""


async def test_animations_sounds_and_web_pages_are_replaced_by_a_text_and_an_image_or_file(
    kernel: KernelClient,
) -> None:
    execution = await kernel.execute(MEDIA, limit_s=LONG_S)
    assert [image.mime_type for image in images(execution.outputs)] == ["image/gif", "image/png", "image/png"]
    (sound,) = [output for output in execution.outputs if isinstance(output, FileOutput)]
    assert (sound.mime_type, sound.data[:4]) == ("audio/wav", b"RIFF")
    assert execution.text.splitlines() == [
        "[An animation of 3 frames cannot be played here; its first frame follows. To show it, save it as a GIF with"
        " save('animation.gif', writer='pillow') and display Image('animation.gif').]",
        "[A sound cannot be played here; its file follows.]",
        "[A page at another address is not shown here.]",
        "https://example.com/page",
        "**The mean is 4.2**",
        "### Result",
        "[A picture follows.]",
    ]


@pytest.mark.parametrize(
    ("code", "mime_type", "form"),
    [
        ("from IPython.display import SVG, display\ndisplay(SVG('<svg></svg>'))", "image/svg+xml", "<svg/>"),
        ("from IPython.display import Math, display\ndisplay(Math('x^2'))", "text/latex", "$\\displaystyle x^2$"),
        (
            "from IPython.display import JSON, display\ndisplay(JSON({'a': [1, None]}))",
            "application/json",
            {"a": [1, None]},
        ),
        (
            "display({'application/vnd.plotly.v1+json': {'data': []}}, raw=True)",
            "application/vnd.plotly.v1+json",
            {"data": []},
        ),
    ],
)
async def test_display_of_svg_latex_json_or_plotly_keeps_its_mime_type(
    kernel: KernelClient, code: str, mime_type: str, form: object
) -> None:
    (shown,) = displays((await kernel.execute(code)).outputs)
    assert shown.bundle[mime_type] == form


async def test_image_of_a_display_with_html_becomes_a_separate_output_after_it(kernel: KernelClient) -> None:
    png = "b'\\x89PNG\\r\\n\\x1a\\nrest'"
    code = (
        f"import base64\nimage = base64.b64encode({png}).decode()\n"
        "display({'text/html': '<b>chart</b>', 'image/png': image, 'text/plain': 'chart'}, raw=True)"
    )
    chart, image = (await kernel.execute(code)).outputs
    assert chart == DisplayOutput({"text/html": "<b>chart</b>", "text/plain": "chart"})
    assert image == ImageOutput("image/png", b"\x89PNG\r\n\x1a\nrest")


async def test_image_of_the_maximum_size_is_an_output(kernel: KernelClient) -> None:
    code = (
        f"import base64\ndata = b'\\x89PNG\\r\\n\\x1a\\n' + bytes({IMAGE_LIMIT_BYTES} - 8)\n"
        "display({'image/png': base64.b64encode(data).decode()}, raw=True)"
    )
    (image,) = images((await kernel.execute(code, limit_s=LONG_S)).outputs)
    assert len(image.data) == IMAGE_LIMIT_BYTES


async def test_outputs_are_reported_while_the_cell_runs(kernel: KernelClient) -> None:
    outputs: asyncio.Queue[Output | Redrawn] = asyncio.Queue()
    code = "import time\nprint('first', flush=True)\ntime.sleep(60)"
    cell = asyncio.create_task(kernel.execute(code, limit_s=LONG_S, on_output=outputs.put_nowait))
    assert await outputs.get() == TextOutput("stdout", "first\n")
    await cancel_cell(cell)


async def test_error_in_the_output_callback_stops_the_cell_and_is_raised_to_the_caller(kernel: KernelClient) -> None:
    def fail(output: Output | Redrawn) -> None:
        raise LookupError(output)

    code = "import time\nprint('first', flush=True)\ntime.sleep(60)"
    with pytest.raises(LookupError):
        await kernel.execute(code, limit_s=LONG_S, on_output=fail)
    assert (await kernel.execute("print('free again')", limit_s=LONG_S)).text == "free again\n"


async def test_output_of_another_thread_belongs_to_the_cell_that_runs(kernel: KernelClient) -> None:
    code = "import threading\nthread = threading.Thread(target=print, args=('from a thread',))\n"
    assert (await kernel.execute(code + "thread.start()\nthread.join()")).text == "from a thread\n"
