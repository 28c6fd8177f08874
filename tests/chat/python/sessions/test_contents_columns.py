"""The contents of a kernel, as columns of its session's row."""

from __future__ import annotations

from chat.python.kernels.kernel_contents import KernelContents
from chat.python.sessions.contents_columns import contents_columns


def test_stored_contents_are_kept_if_the_kernel_does_not_report_new_ones() -> None:
    assert contents_columns(KernelContents(error="It did not answer.")) == {"note": "It did not answer."}
