"""A kernel of Plotline's own service has the same folder and shows saved images, however the service is reached."""

from __future__ import annotations

import pytest

from chat.python.kernels.client import KernelClient
from chat.python.kernels.outputs import ImageOutput
from tests.chat.python.kernels.cells import LONG_S
from tests.chat.python.kernels.conformance.places import OWN_PLACES

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLACES = OWN_PLACES


async def test_working_directory_is_the_256_mib_folder_of_the_sandbox(kernel: KernelClient) -> None:
    code = "import os\nsize = os.statvfs('.')\nprint(os.getcwd(), size.f_blocks * size.f_frsize)"
    assert (await kernel.execute(code)).text == f"/box {256 * 1024 * 1024}\n"


async def test_saved_image_is_shown_even_if_an_earlier_one_cannot_be_read(kernel: KernelClient) -> None:
    code = (
        "import os\nfrom PIL import Image\nImage.new('RGB', (9, 9)).save('locked.png')\nos.chmod('locked.png', 0)\n"
        "Image.new('RGB', (9, 9)).save('open.gif')"
    )
    execution = await kernel.execute(code, limit_s=LONG_S)
    assert [output.mime_type for output in execution.outputs if isinstance(output, ImageOutput)] == ["image/gif"]
