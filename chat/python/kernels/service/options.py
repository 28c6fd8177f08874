"""Options of the gateway. The supervisor passes them as JSON on standard input, where no other user can read them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

HEALTH_PATH = "/plotline/status"
"""A resource of the gateway that the supervisor reads: the numbers of kernels as JSON."""
_MEMORY_LIMIT_MIB = 1536
_ADDRESS_SPACE_MIB = 2048
_MAPPED_MIB = 1024


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """Options with which the gateway runs kernels."""

    token: str = ""
    directory: str = ""
    """The gateway's own folder for connection files and sockets. Its path is short, and it exists."""
    parent_pid: int = 0
    host: str = "127.0.0.1"
    port: int = 0
    """0: any free port."""
    warm_kernels: int = 1
    """Number of kernels that are started in advance."""
    kernels_limit: int = 32
    """Maximum number of kernels in use, without those that are kept ready. The web server has lower limits."""
    memory_limit_mib: int = _MEMORY_LIMIT_MIB
    """Maximum memory of one kernel, with all its processes."""
    idle_limit_s: int = 45 * 60
    """Time after which a kernel without a client and without activity is ended. The web server ends its kernels much
    sooner.
    """
    ping_interval_s: float = 30.0
    """Time between two pings. A client that answers none of three pings is disconnected."""
    is_sandboxed: bool = True
    uses_cgroups_as_root: bool = False
    """Whether a service that runs as root creates control groups although none is delegated to it."""

    @property
    def memory_limit_bytes(self) -> int:
        """The memory limit in bytes."""
        return self.memory_limit_mib * 1024 * 1024

    @property
    def address_space_mib(self) -> int:
        """Maximum address space of one process of a kernel, in MiB. It is larger if the memory limit is raised.

        Libraries map more memory than they use. Measured: 600 MiB more in a new kernel, 970 MiB more with pandas, scipy
        and matplotlib.
        """
        if self.memory_limit_mib <= _MEMORY_LIMIT_MIB:
            return _ADDRESS_SPACE_MIB
        return self.memory_limit_mib + _MAPPED_MIB

    def to_json(self) -> str:
        """Return the options as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> GatewayOptions:
        """Return the options from JSON."""
        return cls(**json.loads(line))
