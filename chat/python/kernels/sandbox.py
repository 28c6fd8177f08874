"""Launch a program in an isolated sandbox.

Bubblewrap gives the program its own namespaces: no network, no processes of the host, and no host files except `/usr`,
some files of `/etc` and the Python interpreter of kernels. `seccomp` refuses calls that reach deep into Linux itself.
Inside the sandbox, `bootstrap` adds Landlock and resource limits before any other code runs. The host and the program
communicate through one folder of Unix sockets, which is `/rt` inside.

Invariants:
- The launcher's environment is empty, because `/proc/1/environ` inside is bubblewrap's own, despite `--clearenv`.
- The program never runs as root, because limits on processes and files would not apply to root. A server that runs as
  root becomes `nobody` on the host first. An outer bubblewrap shows the interpreter to that user, even below `/root`.
- All processes end with their launcher, also after `kill -9`. `--die-with-parent` follows the launching *thread*, so
  launch from the main thread, or from a thread that lives as long as the program may.

Limits: The sandbox shares the host's Linux kernel, so one vulnerability in it breaks the isolation. The sandbox itself
limits neither memory nor CPU time. `service.cgroups` does, where the system delegates a control group, which few hosts
do. Elsewhere `service.memory_watch` measures memory and kills the program a fraction of a second late, and the program
only has a low priority (`nice`). The sandbox suits users whom the operator knows, not hostile strangers.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from chat.python.kernels import seccomp
from chat.python.kernels.interpreter import Interpreter, InterpreterUnavailable, find_interpreter

logger = logging.getLogger(__name__)

NOBODY = 65534
MIB = 1024 * 1024
WORKING_DIRECTORY_BYTES = 256 * MIB
"""Size limit of the working directory `/box`, which is held in memory. Code of models also calls it `/mnt/data`."""
ENVIRONMENT = {
    # pyarrow's own allocator reserves 1 GiB of address space, which `bootstrap` limits. pandas uses it for each text.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "HOME": "/box",
    # Tells `in_kernel.files` that this kernel has a working directory of its own.
    "PLOTLINE_KERNEL": "1",
    "USER": "kernel",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "IPYTHONDIR": "/tmp/.ipython",
    "MATPLOTLIBRC": "/matplotlibrc",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "MPLCONFIGDIR": "/tmp/.matplotlib",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}

_CANNOT = "Code cannot be isolated on this machine"
_BOOTSTRAP = Path(__file__).with_name("bootstrap.py")
_MATPLOTLIBRC = "figure.dpi: 200\n"
"""Configuration of matplotlib, with twice its default resolution. The page shows graphs at half their size, so that
they are sharp on screens with a high resolution.
"""
_STDERR_LIMIT_CHARS = 2000
APPARMOR_COMMAND = "sudo deploy/apparmor-profile"
_APPARMOR_RESTRICTION = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_SIGNS_OF_BLOCKED_NAMESPACES = ("namespace", "uid map", "gid map", "RTM_NEWADDR")
"""Words in the errors of bubblewrap that mean that user namespaces are blocked.

AppArmor lets it make namespaces, but without rights inside: the setup of the loopback device fails first (RTM_NEWADDR).
"""
_ABSOLUTE_PATH = re.compile(r"(?<![\w./])/[^\s:;,'\"`)]+")


class SandboxUnavailable(Exception):
    """This machine cannot run a program in the sandbox; the message says what to install or to enable."""


def launch(
    directory: Path, *arguments: str, stdout: int = subprocess.DEVNULL, scripts: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Run `bootstrap` with these arguments in the sandbox.

    `directory` is the folder of sockets. `scripts` maps paths inside the sandbox to the texts of files.
    Keep the process's stdin open: `bootstrap` runs nothing if it is closed earlier.
    Its stderr explains a failed launch, see `launch_error`.
    Raises SandboxUnavailable if a tool or the interpreter is missing, or if root cannot become `nobody`.
    """
    bubblewrap = _require_tool("bwrap", "bubblewrap")
    # Bubblewrap needs the real path: a folder of the path may be a link that the sandbox has, too, because it leads
    # to the interpreter.
    directory = directory.resolve()
    try:
        interpreter = find_interpreter()
    except InterpreterUnavailable as error:
        raise SandboxUnavailable(str(error)) from error
    files = {"/bootstrap.py": _BOOTSTRAP.read_text(), "/matplotlibrc": _MATPLOTLIBRC, **(scripts or {})}
    contents = [_require_seccomp_filter(), *(text.encode() for text in files.values())]
    with _memory_files(contents) as (seccomp_filter, *descriptors):
        argv = [bubblewrap, *_sandbox_arguments(directory, interpreter), "--seccomp", str(seccomp_filter)]
        for descriptor, path in zip(descriptors, files, strict=True):
            argv += ["--ro-bind-data", str(descriptor), path]
        argv += ["--remount-ro", "/", "--chdir", "/box", interpreter.executable, "/bootstrap.py", *arguments]
        if os.geteuid() == 0:
            _give_to_nobody(directory)
            argv = [*_unprivileged_arguments(bubblewrap, directory, interpreter), *argv]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            argv, env={}, cwd="/", stdin=pipe, stdout=stdout, stderr=pipe, pass_fds=(seccomp_filter, *descriptors)
        )


def launch_error(stderr: bytes) -> SandboxUnavailable:
    """Return an error that explains a launch whose program never ran, with advice if user namespaces are blocked."""
    message = stderr.decode(errors="replace").strip()[-_STDERR_LIMIT_CHARS:]
    logger.warning("The launch of a sandbox has failed: %s", message)
    # Users and models see the message, so paths of the host are removed.
    message = _ABSOLUTE_PATH.sub("…", message)
    advice = ""
    if any(sign in message for sign in _SIGNS_OF_BLOCKED_NAMESPACES):
        advice = ". User namespaces are blocked here. "
        if _APPARMOR_RESTRICTION.exists() and _APPARMOR_RESTRICTION.read_text().strip() == "1":
            advice += f"Allow them for bubblewrap in AppArmor, with `{APPARMOR_COMMAND}` in Plotline's folder."
        else:
            advice += "Debian: `sysctl kernel.unprivileged_userns_clone=1`."
        advice += " Docker: a seccomp profile that allows `clone`, `unshare` and `mount`."
    return SandboxUnavailable(f"{_CANNOT}: {message or 'the launch ended without a message'}{advice}")


def _require_tool(name: str, package: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise SandboxUnavailable(
            f"{_CANNOT}: {package} is missing, the program `{name}`. Install it with `apt-get install {package}`."
        )
    return os.path.realpath(path)


def _require_seccomp_filter() -> bytes:
    if not seccomp.IS_AVAILABLE:
        raise SandboxUnavailable(
            f"{_CANNOT}: libseccomp is missing. Install it with `apt-get install libseccomp2`, and `pip install"
            " pyseccomp`."
        )
    return seccomp.build_filter()


@contextmanager
def _memory_files(contents: Sequence[bytes]) -> Iterator[tuple[int, ...]]:
    """Yield one readable file descriptor per content; the files exist in memory only."""
    with ExitStack() as stack:
        descriptors = []
        for content in contents:
            file = stack.enter_context(os.fdopen(os.memfd_create("plotline"), "r+b"))
            file.write(content)
            file.seek(0)
            descriptors.append(file.fileno())
        yield tuple(descriptors)


DATA_FOLDER = Path("/mnt/data")
"""Another name of the working directory `/box`: models use it in their code."""


def _host_arguments(interpreter: Interpreter) -> list[str]:
    """Return the bubblewrap arguments that show the system's programs and the interpreter, read-only."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for path in map(Path, ("/bin", "/lib", "/lib64")):
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), str(path)]
        elif path.exists():
            arguments += ["--ro-bind", str(path), str(path)]
    for name in ("/etc/fonts", "/etc/ld.so.cache", "/etc/alternatives"):
        arguments += ["--ro-bind-try", name, name]
    for name in interpreter.folders:
        arguments += ["--ro-bind", name, name]
    for link, target in interpreter.links:
        arguments += ["--symlink", target, link]
    return arguments


def _sandbox_arguments(directory: Path, interpreter: Interpreter) -> list[str]:
    """Return the bubblewrap arguments of the sandbox itself.

    `/tmp`, `/dev/shm` and `/box` have size limits, and the other file systems that bubblewrap creates become read-only.
    """
    environment = [word for pair in ENVIRONMENT.items() for word in ("--setenv", *pair)]
    return [
        *("--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY), "--disable-userns", "--cap-drop", "ALL"),
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--hostname", "kernel"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv", *environment),
        *("--size", str(64 * MIB), "--tmpfs", "/tmp", *_host_arguments(interpreter)),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--size", str(16 * MIB), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *("--size", str(WORKING_DIRECTORY_BYTES), "--tmpfs", "/box", "--bind", str(directory), "/rt"),
        *([] if _has_data_folder(interpreter) else ["--symlink", "/box", str(DATA_FOLDER)]),
    ]


def _has_data_folder(interpreter: Interpreter) -> bool:
    """Return whether files of the host, which the sandbox shows, are at `/mnt/data`. Then no link can be there."""
    shown = [*map(Path, interpreter.folders), *(Path(link) for link, _ in interpreter.links)]
    return any(DATA_FOLDER.is_relative_to(path) or path.is_relative_to(DATA_FOLDER) for path in shown)


def _give_to_nobody(directory: Path) -> None:
    try:
        for path in (directory, *directory.iterdir()):
            os.chown(path, NOBODY, NOBODY)
    except OSError as error:
        raise SandboxUnavailable(f"{_CANNOT}: root may not become `nobody` here ({error.strerror}).") from error


def _unprivileged_arguments(bubblewrap: str, directory: Path, interpreter: Interpreter) -> list[str]:
    """Return the command that a server running as root puts before the sandbox's, to give up root.

    Bubblewrap creates the parent folders of a bind for its own user only, so `--dir` creates them for everyone first.
    The outer process namespace ends the sandbox together with its launcher. The inner `--die-with-parent` cannot do
    this: root's bubblewrap has given up the right to signal `nobody`, but a namespace dies with its first process.
    """
    setpriv = _require_tool("setpriv", "util-linux")
    links = [link for link, _ in interpreter.links]
    visible = [str(directory), "/etc/fonts", *interpreter.folders, *links]
    parents = dict.fromkeys(str(parent) for path in visible for parent in reversed(Path(path).parents[:-1]))
    parent_arguments = [word for parent in parents for word in ("--dir", parent)]
    sockets = str(directory)
    return [
        *(bubblewrap, "--unshare-pid", "--die-with-parent", *parent_arguments, *_host_arguments(interpreter)),
        *("--bind", sockets, sockets, "--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc"),
        *(setpriv, "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "--inh-caps", "-all"),
    ]
