"""The errors of a place that runs kernels, and of its kernels. Each message is a sentence for users."""

from __future__ import annotations


class KernelsUnavailable(Exception):
    """The place that runs kernels cannot be reached, or it does not start a kernel."""


class ServiceNotRunning(KernelsUnavailable):
    """The service on this machine does not run, so it has no kernels."""


class KernelGone(Exception):
    """The kernel has ended, and its variables are lost."""
