"""Figures of matplotlib are graphs once each, with their titles, and so are images that code only saves."""

from __future__ import annotations

import pytest

from chat.python.kernels.client import KernelClient
from chat.python.kernels.outputs import Execution, ExecutionStatus, ImageOutput
from tests.chat.python.kernels.cells import LONG_S
from tests.chat.python.kernels.conformance.places import MAIN_PLACES

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLACES = MAIN_PLACES

DRAW = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([2, 3, 1])\nax.set_title('{title}')\n"
SHOWN = DRAW.format(title="shown")
SAVE_TWO = """for name in ('first', 'second'):
    fig, ax = plt.subplots(); ax.bar(['a', 'b'], [1, len(name)]); ax.set_title('saved ' + name)
    fig.savefig(name + '.png'); plt.close(fig)
"""
FRAMES = """for number in range(3):
    ax.clear(); ax.plot([number, 5]); ax.set_title(f'frame {number}'); fig.savefig(f'frame{number}.png')
"""


async def titles(kernel: KernelClient, code: str, text: str = "") -> list[str | None]:
    """Run a cell without an error, and return the titles of its graphs."""
    execution = await kernel.execute(code, limit_s=LONG_S)
    assert execution.status is ExecutionStatus.OK, execution.text
    assert execution.text == text
    return graph_titles(execution)


def graph_titles(execution: Execution) -> list[str | None]:
    """Return the titles of the graphs among outputs."""
    return [output.title for output in execution.outputs if isinstance(output, ImageOutput)]


@pytest.mark.parametrize("name", ["Agg", "TkAgg", "Qt5Agg", "pdf", "module://ipympl.backend_nbagg"])
async def test_figure_is_shown_with_any_matplotlib_backend(kernel: KernelClient, name: str) -> None:
    code = f"import matplotlib\nmatplotlib.use('{name}')\n{SHOWN}plt.show()"
    assert await titles(kernel, code) == ["shown"]
    assert await titles(kernel, f"plt.switch_backend('{name}')\n{SHOWN}plt.show()") == ["shown"]


@pytest.mark.parametrize("name", ["notebook", "widget", "qt", "tk", "inline"])
async def test_figure_is_shown_after_any_matplotlib_magic_command(kernel: KernelClient, name: str) -> None:
    assert await titles(kernel, f"%matplotlib {name}\n{SHOWN}plt.show()") == ["shown"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"{SHOWN}plt.show()\nplt.show()", ["shown"]),
        (f"{SHOWN}plt.close()\nfig", ["shown"]),
        (f"{SHOWN}fig", ["shown"]),
        (f"{SHOWN}fig.show()", ["shown"]),
        (f"{SHOWN}fig.show()\nplt.close(fig)", ["shown"]),
        (f"{SHOWN}fig.set_layout_engine('constrained')\nplt.show()\nfig", ["shown"]),
        (f"{SHOWN}fig.savefig('a.png', dpi=70)\nplt.show()", ["shown"]),
        (f"{SHOWN}plt.show()\nfig.savefig('b.jpg', bbox_inches='tight')", ["shown"]),
        (f"{SHOWN}plt.savefig('c')", ["shown"]),
        (f"{SHOWN}plt.show()\nplt.savefig('empty.png')\nplt.close()", ["shown"]),
        (f"{SHOWN}plt.show()\n{SAVE_TWO}", ["shown", "saved first", "saved second"]),
        (f"{SHOWN}{FRAMES}", ["frame 2", "frame 0", "frame 1"]),
        (f"{SHOWN}plt.show()\n{DRAW.format(title='other')}plt.show()", ["shown", "other"]),
        (f"{SHOWN}{DRAW.format(title='other')}plt.show()", ["shown", "other"]),
        (f"{SHOWN}fig.suptitle('all')\nplt.show()", ["all"]),
        (f"{SHOWN}ax.set_title('')\nplt.show()", [""]),
        (
            f"{SHOWN}plt.show()\nfrom PIL import Image\nImage.new('RGB', (60, 40), 'red').save('red.png')",
            ["shown", None],
        ),
        ("from PIL import Image\nImage.new('RGB', (50, 40), 'blue').save('blue.gif')", [None]),
        ("from PIL import Image\nImage.new('RGB', (50, 40), 'green').show()", [None]),
        (
            f"{SHOWN}import os\nos.makedirs('out/plots', exist_ok=True)\nfig.savefig('out/plots/d.png')\nplt.close()",
            ["shown"],
        ),
    ],
)
async def test_figure_that_is_shown_returned_and_saved_becomes_only_one_graph(
    kernel: KernelClient, code: str, expected: list[str | None]
) -> None:
    # `;` keeps the value of `savefig` and the like out of the output.
    assert await titles(kernel, f"plt.close('all')\n{code}" if "plt" in code else code) == expected


async def test_figure_that_is_returned_and_shown_is_one_graph(kernel: KernelClient) -> None:
    code = "def draw():\n    figure, axes = plt.subplots()\n    axes.plot([1, 2])\n    axes.set_title('made')\n"
    assert await titles(kernel, f"{SHOWN}plt.close()\n{code}    plt.show()\n    return figure\ndraw()") == ["made"]
    assert await titles(kernel, f"{code}    return figure\ndraw()") == ["made"]


async def test_note_about_characters_that_no_font_has_appears_at_most_once_in_a_cell(kernel: KernelClient) -> None:
    code = f"{SHOWN}ax.set_title('ᚠᚢ'); ax.set_xlabel('ꦲ'); plt.rcParams['font.sans-serif'] = ['SimHei']\nplt.show()"
    execution = await kernel.execute(code, limit_s=LONG_S)
    assert graph_titles(execution) == ["ᚠᚢ"]
    assert "Glyph" not in execution.text
    assert "findfont" not in execution.text
    assert execution.text.count("No font here has") <= 1
    assert ("fonts-noto-core" in execution.text) == ("No font" in execution.text)


async def test_files_in_folders_are_listed_with_their_paths(kernel: KernelClient) -> None:
    code = (
        "import os\nos.makedirs('deep/er/a/b/c/d', exist_ok=True)\nopen('deep/sums.csv', 'w').write('a,b\\n')\n"
        "open('deep/er/a/b/c/d/far.csv', 'w').write('x')\nopen('deep/.hidden', 'w').write('x')\n"
        "os.symlink('/etc', 'deep/etc')\nos.symlink('/etc/passwd', 'deep/passwd.txt')\n"
        "open('deep/gpj\\u202efdp.exe', 'w').write('odd')\nNone"
    )
    assert await titles(kernel, code) == []
    names = {file.name for file in (await kernel.contents()).files if file.name.startswith("deep/")}
    assert names == {"deep/sums.csv", "deep/gpj_u202e_fdp.exe"}
    assert b"".join([piece async for piece in kernel.read_file("deep/sums.csv")]) == b"a,b\n"
    assert b"".join([piece async for piece in kernel.read_file("deep/gpj_u202e_fdp.exe")]) == b"odd"
    for name in ("deep/etc/hostname", "deep/passwd.txt", "deep/../deep/sums.csv", "/etc/passwd", "deep//sums.csv"):
        with pytest.raises(FileNotFoundError):
            await anext(kernel.read_file(name))


async def test_pandas_functions_that_need_optional_packages_work(kernel: KernelClient) -> None:
    code = (
        "import io, pandas as pd, seaborn\ndf = pd.DataFrame({'p': [1, 2], 'q': ['a', 'b']})\n"
        "df.to_excel('p.xlsx'); df.to_excel('x.xlsx', engine='xlsxwriter'); texts = [df.to_markdown(), df.to_latex()]\n"
        "styled = df.style.format({'p': '{:.1f} €'}).to_html()\n"
        "print(pd.read_html(io.StringIO(df.to_html()))[0].shape, '1.0 €' in styled)"
    )
    assert await titles(kernel, code, "(2, 3) True\n") == []
