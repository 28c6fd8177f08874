"""The contents of a kernel, as columns of its session's row."""

from __future__ import annotations

from chat.python.kernels.kernel_contents import KernelContents
from chat.python.sessions.contents_columns import contents_columns


def test_contents_that_cannot_be_read_leave_the_columns_as_they_are() -> None:
    assert contents_columns(KernelContents(error="It did not answer.")) == {"note": "It did not answer."}
