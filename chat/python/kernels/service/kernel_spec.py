"""Describes the only kind of kernel that the gateway offers."""

from __future__ import annotations

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel

from chat.python.kernels.service import provisioner
from chat.python.kernels.service.options import GatewayOptions

KERNEL_NAME = "python3"


class SandboxKernelSpecs(KernelSpecManager):
    """Describes the kernel in the sandbox, and ignores the kernel specs that are installed on the machine."""

    def find_kernel_specs(self) -> dict[str, str]:
        """Return the name of the kernel; it has no folder of resources."""
        return {KERNEL_NAME: ""}

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return the kernel's description; raises NoSuchKernel for any other name."""
        if kernel_name != KERNEL_NAME:
            raise NoSuchKernel(kernel_name)
        assert self.parent is not None
        options: GatewayOptions = self.parent.options
        name = provisioner.SANDBOX if options.is_sandboxed else provisioner.PLAIN
        config = {"directory": options.directory}
        return KernelSpec(
            # Arguments of `bootstrap`, which runs in the sandbox. Without a sandbox they are not used.
            argv=["kernel", str(options.address_space_mib)],
            display_name="Python 3",
            language="python",
            # By a message, because a signal would reach bubblewrap and end it.
            interrupt_mode="message",
            metadata={"kernel_provisioner": {"provisioner_name": name, "config": config}},
        )

    def get_all_specs(self) -> dict[str, object]:
        """Return the description as Jupyter's API shows it."""
        return {KERNEL_NAME: {"resource_dir": "", "spec": self.get_kernel_spec(KERNEL_NAME).to_dict()}}
