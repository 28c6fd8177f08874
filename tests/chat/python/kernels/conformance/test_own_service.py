"""A kernel of Plotline's own service has the same sandbox and folder, however the service is reached."""

from __future__ import annotations

import pytest

from chat.python.kernels.client import KernelClient
from chat.python.kernels.outputs import ImageOutput
from tests.chat.python.kernels.conformance.places import OWN_PLACES

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLACES = OWN_PLACES

LONG_S = 120.0


async def test_working_directory_is_the_256_mib_folder_of_the_sandbox(kernel: KernelClient) -> None:
    code = "import os\nsize = os.statvfs('.')\nprint(os.getcwd(), size.f_blocks * size.f_frsize)"
    assert (await kernel.execute(code)).text == f"/box {256 * 1024 * 1024}\n"


async def test_saved_figure_is_a_graph(kernel: KernelClient) -> None:
    code = "import matplotlib.pyplot as plt\nplt.plot([3, 1])\nplt.savefig('saved.png')\nplt.close()"
    execution = await kernel.execute(code, limit_s=LONG_S)
    assert [type(output) for output in execution.outputs] == [ImageOutput]
