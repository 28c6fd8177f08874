"""Runs each test of the suite against several places."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from chat.python.kernels.client import JupyterClient, KernelClient
from chat.python.kernels.errors import KernelsUnavailable
from tests.chat.python.kernels.conformance.places import ALL_SERVERS, OWN_PLACES, RUN_PLACE, PlaceUnderTest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test against the places that its module names in `PLACES`, or against all servers.

    Foreign places are drills.
    """
    if "place" in metafunc.fixturenames:
        names = getattr(metafunc.module, "PLACES", ALL_SERVERS)
        places = [pytest.param(name, marks=() if name in OWN_PLACES else pytest.mark.drill) for name in names]
        metafunc.parametrize("place", places, indirect=True, scope="session")


@pytest.fixture(scope="session")
def place(request: pytest.FixtureRequest) -> Iterator[PlaceUnderTest]:
    """A running place."""
    with RUN_PLACE[request.param]() as place:
        yield place


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(place: PlaceUnderTest) -> AsyncIterator[JupyterClient]:
    """The client of the place."""
    client = JupyterClient(place.place)
    yield client
    await client.aclose()


async def start_kernel(client: JupyterClient) -> str:
    """Start a kernel; a second time if a busy Jupyter server leaves the first handshake without an answer."""
    try:
        return await client.start_kernel()
    except KernelsUnavailable:
        return await client.start_kernel()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kernel(client: JupyterClient) -> AsyncIterator[KernelClient]:
    """One kernel for all tests of a module that leave it alive."""
    kernel_id = await start_kernel(client)
    async with await client.connect(kernel_id) as kernel:
        yield kernel
    await client.shut_down(kernel_id)


@pytest_asyncio.fixture(loop_scope="module")
async def own_id(client: JupyterClient) -> AsyncIterator[str]:
    """The id of a kernel for a test that may end it."""
    kernel_id = await start_kernel(client)
    yield kernel_id
    await client.shut_down(kernel_id)


@pytest_asyncio.fixture(loop_scope="module")
async def own_kernel(client: JupyterClient, own_id: str) -> AsyncIterator[KernelClient]:
    """A connection to a kernel that the test may end."""
    async with await client.connect(own_id) as kernel:
        yield kernel
