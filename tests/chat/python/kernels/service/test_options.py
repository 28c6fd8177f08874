"""The address space of a process follows the limit of memory, and is never below what libraries map."""

from __future__ import annotations

import pytest

from chat.python.kernels.service.options import GatewayOptions


@pytest.mark.parametrize(("memory_mib", "address_space_mib"), [(256, 2048), (1536, 2048), (1537, 2561), (8192, 9216)])
def test_address_space_limit_exceeds_the_memory_limit_and_is_at_least_two_gibibytes(
    memory_mib: int, address_space_mib: int
) -> None:
    assert GatewayOptions(memory_limit_mib=memory_mib).address_space_mib == address_space_mib
