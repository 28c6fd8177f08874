"""Files travel in both directions in pieces; names are labels and only regular files are opened."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator

import pytest

from chat.python.kernels.client import JupyterClient, KernelClient
from tests.chat.python.kernels.cells import chunks
from tests.chat.python.kernels.conformance.places import MAIN_PLACES, PlaceUnderTest

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLACES = MAIN_PLACES

MIB = 1024 * 1024


async def read(kernel: KernelClient, name: str) -> bytes:
    """Return the content of a file."""
    return b"".join([piece async for piece in kernel.read_file(name)])


@pytest.mark.parametrize("size", [0, 1, 512 * 1024, 5 * MIB + 7])
async def test_written_file_has_the_same_bytes_in_the_kernel_and_when_it_is_read_back(
    kernel: KernelClient, size: int
) -> None:
    data = random.Random(size).randbytes(size)
    parts = [data[start : start + 700_001] for start in range(0, size, 700_001)]
    assert await kernel.write_file("data.bin", chunks(*parts)) == "data.bin"
    code = "import hashlib\nprint(hashlib.sha256(open('data.bin', 'rb').read()).hexdigest())"
    assert (await kernel.execute(code)).text == hashlib.sha256(data).hexdigest() + "\n"
    assert await read(kernel, "data.bin") == data


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Größe 1.csv", "Größe 1.csv"),
        ("日本 'x\" .txt", "日本 'x\" .txt"),
        ("../../up.txt", "up.txt"),
        ("..\\..\\evil.py", "evil.py"),
        ("a\nb\0.csv", "ab.csv"),
        ("🎉 {0} %s.txt", "🎉 {0} %s.txt"),
        (".ipython", "ipython"),
        ("x" * 300 + ".csv", "x" * 96 + ".csv"),
    ],
)
async def test_unsafe_file_name_is_replaced_by_a_safe_one_when_the_file_is_written(
    kernel: KernelClient, name: str, label: str
) -> None:
    assert await kernel.write_file(name, chunks(b"content")) == label
    assert await read(kernel, label) == b"content"
    assert label in {file.name for file in (await kernel.contents()).files}


async def test_invisible_characters_in_a_file_name_are_shown_as_their_codes(kernel: KernelClient) -> None:
    hidden = ["gpj\u202efdp.exe", "a\u200bb.csv", "a\u2028b.csv"]
    await kernel.execute(f"for name in {hidden!a}: print(name, file=open(name, 'w'))")
    names = {file.name for file in (await kernel.contents()).files}
    assert names >= {"gpj_u202e_fdp.exe", "a_u200b_b.csv", "a_u2028_b.csv"}
    assert not {"\u202e", "\u200b", "\u2028"} & set("".join(names))
    assert await read(kernel, "gpj_u202e_fdp.exe") == "gpj\u202efdp.exe\n".encode()
    with pytest.raises(FileNotFoundError) as refusal:
        await read(kernel, "absent\u202e.csv")
    assert "\u202e" not in str(refusal.value)


async def test_written_file_replaces_an_existing_one_of_the_same_name(kernel: KernelClient) -> None:
    await kernel.write_file("same.txt", chunks(b"long content"))
    await kernel.write_file("same.txt", chunks(b"short"))
    assert await read(kernel, "same.txt") == b"short"


async def test_symbolic_link_out_of_the_folder_is_not_followed_by_reads_or_writes(kernel: KernelClient) -> None:
    await kernel.execute("import os\nos.symlink('/etc/hostname', 'link.txt')\nos.symlink('/etc', 'folder')")
    for name in ("link.txt", "folder", "../etc/hostname", "/etc/hostname", "folder/hostname"):
        with pytest.raises(FileNotFoundError):
            await read(kernel, name)
    names = {file.name for file in (await kernel.contents()).files}
    assert not {"link.txt", "folder"} & names
    assert await kernel.write_file("link.txt", chunks(b"mine")) == "link.txt"
    assert (await kernel.execute("os.path.islink('link.txt')")).text == "False\n"


async def test_named_pipe_does_not_block_listing_reading_or_writing(kernel: KernelClient) -> None:
    await kernel.execute("import os\nos.mkfifo('pipe.txt')")
    async with asyncio.timeout(60):
        assert "pipe.txt" not in {file.name for file in (await kernel.contents()).files}
        with pytest.raises(FileNotFoundError):
            await read(kernel, "pipe.txt")
        await kernel.write_file("pipe.txt", chunks(b"a file now"))
    assert await read(kernel, "pipe.txt") == b"a file now"


async def test_reading_a_missing_file_raises_file_not_found(kernel: KernelClient) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no file missing\.txt"):
        await read(kernel, "missing.txt")


async def test_writing_a_file_fails_if_a_folder_has_its_name(kernel: KernelClient) -> None:
    await kernel.execute("import os\nos.mkdir('sub')")
    with pytest.raises(ValueError, match="sub could not be written"):
        await kernel.write_file("sub", chunks(b"content"))
    left_over = await kernel.execute("[name for name in os.listdir() if name.startswith('.plotline')]")
    assert left_over.text == "[]\n"


async def test_reading_raises_an_error_if_the_file_is_replaced_meanwhile(kernel: KernelClient) -> None:
    await kernel.execute("open('changing.bin', 'wb').write(bytes(2_000_000))")
    reader = kernel.read_file("changing.bin")
    await anext(reader)
    await kernel.execute("open('new.bin', 'wb').write(bytes(10))\nos.replace('new.bin', 'changing.bin')")
    with pytest.raises(FileNotFoundError, match="changed while it was read"):
        await anext(reader)


async def test_read_of_a_growing_file_ends_at_the_size_that_it_had_at_the_beginning(kernel: KernelClient) -> None:
    await kernel.execute("log = open('log.bin', 'wb')\nlog.write(bytes(600_000))\nlog.flush()")
    reader = kernel.read_file("log.bin")
    first = await anext(reader)
    await kernel.execute("log.write(bytes(600_000))\nlog.flush()")
    rest = [piece async for piece in reader]
    assert len(first) + sum(map(len, rest)) == 600_000


async def test_cancelled_upload_leaves_no_file(kernel: KernelClient) -> None:
    has_begun = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield bytes(MIB)
            has_begun.set()

    upload = asyncio.create_task(kernel.write_file("cancelled.bin", endless()))
    await has_begun.wait()
    upload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upload
    # The removal runs before this cell, because requests are answered in their order.
    execution = await kernel.execute(
        "import os\n[name for name in os.listdir() if 'cancelled' in name or '.plotline' in name]"
    )
    assert execution.text == "[]\n"


async def test_file_that_is_too_large_for_the_kernel_is_refused_with_the_reason(
    kernel: KernelClient, place: PlaceUnderTest
) -> None:
    if place.differences.limits_memory:

        async def large() -> AsyncIterator[bytes]:
            for _ in range(80):
                yield bytes(MIB)

        # The sandbox limits each file to 64 MiB.
        with pytest.raises(ValueError, match=r"too large|No space"):
            await kernel.write_file("large.bin", large())
    else:
        await kernel.execute(
            "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB))".replace("MIB", str(MIB))
        )
        with pytest.raises(ValueError, match="too large"):
            await kernel.write_file("large.bin", chunks(bytes(2 * MIB)))
    assert await kernel.write_file("small.bin", chunks(b"fits")) == "small.bin"


async def test_kernels_of_one_place_do_not_share_their_working_directory(
    client: JupyterClient, kernel: KernelClient
) -> None:
    await kernel.write_file("mine.txt", chunks(b"mine"))
    other_id = await client.start_kernel()
    async with await client.connect(other_id) as other:
        assert (await other.contents()).files == ()
        with pytest.raises(FileNotFoundError):
            await read(other, "mine.txt")
    await client.shut_down(other_id)
