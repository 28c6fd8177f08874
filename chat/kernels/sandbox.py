"""The walls around a kernel, and how a program is launched behind them.

Bubblewrap gives namespaces of its own (no network, no host processes, no host files but the Python that runs), seccomp
takes away the system calls that reach deep into the Linux kernel, and the shim adds Landlock and resource limits.
Everything crosses one folder of Unix sockets (`/rt` inside).

Invariants:
- The launcher's environment is empty: `/proc/1/environ` inside is bubblewrap's own, whatever `--clearenv` says.
- The program is never root. A server that runs as root becomes `nobody` on the host first, in an outer bubblewrap that
  shows the interpreter even where it lies under `/root`; as root, limits on processes and files would not hold.
- Everything dies with its launcher, `kill -9` included. `--die-with-parent` follows the *thread* that launched, so
  launch from the main thread, or from one that lives as long as the program may.

Limits, honestly: the Linux kernel is shared, so one hole in it ends this. Memory is not held by a cgroup (joining one
needs a delegation that few hosts grant): `memory_bytes` counts it and whoever launched kills, a fraction of a second
late. CPU time is not capped, it only gives way (`nice`). Good for users one knows; not for hostile strangers.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from chat.kernels import seccomp

NOBODY = 65534
MIB = 1024 * 1024
SCRATCH_BYTES = 256 * MIB
"""Size of the working directory, which lives in memory."""
ENVIRONMENT = {
    "HOME": "/box",
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
_SHIM = Path(__file__).with_name("shim.py")
_PROBES = Path(__file__).with_name("probes.py")
_SELF_TEST_LIMIT_S = 30.0
_MATPLOTLIBRC = "figure.dpi: 120\n"
_SOCKET_PATH_LIMIT_BYTES = 107
_NO_SCRIPTS: Mapping[str, str] = MappingProxyType({})


class SandboxUnavailable(Exception):
    """This machine cannot isolate a program; the text says what to install or enable."""


def make_directory() -> Path:
    """Make the folder of sockets, at a path short enough for them."""
    for parent in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"):
        longest = f"{parent}/plotline-12345678/s-1"
        if parent and len(longest.encode()) <= _SOCKET_PATH_LIMIT_BYTES and os.access(parent, os.W_OK | os.X_OK):
            return Path(tempfile.mkdtemp(prefix="plotline-", dir=parent))
    raise SandboxUnavailable("There is no folder to make sockets in: make XDG_RUNTIME_DIR or /tmp writable.")


def launch(
    directory: Path, *arguments: str, stdout: int = subprocess.DEVNULL, scripts: Mapping[str, str] = _NO_SCRIPTS
) -> subprocess.Popen[bytes]:
    """Run the shim with these arguments behind the walls; `directory` is `/rt`, scripts are texts by their inner path.

    The process's stdin is its lifeline: keep it open. Its stderr speaks only of launches that failed: `failure`.
    Raises SandboxUnavailable where a tool is missing.
    """
    bubblewrap = _tool("bwrap", "bubblewrap")
    shown = {"/shim.py": _SHIM.read_text(), "/matplotlibrc": _MATPLOTLIBRC, **scripts}
    with _readable([_refused_calls(), *(text.encode() for text in shown.values())]) as (refused_calls, *texts):
        argv = [bubblewrap, *_walls(directory), "--seccomp", str(refused_calls)]
        for descriptor, path in zip(texts, shown, strict=True):
            argv += ["--ro-bind-data", str(descriptor), path]
        argv += ["--remount-ro", "/", "--chdir", "/box", sys.executable, "/shim.py", *arguments]
        if os.geteuid() == 0:
            _give_to_nobody(directory)
            argv = [*_becoming_nobody(bubblewrap, directory), *argv]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            argv, env={}, cwd="/", stdin=pipe, stdout=stdout, stderr=pipe, pass_fds=(refused_calls, *texts)
        )


def failure(stderr: bytes) -> SandboxUnavailable:
    """Say why a launch ended before its program ran, and what may be done about it."""
    said = stderr.decode(errors="replace").strip()[-2000:]
    advice = ""
    if any(sign in said for sign in ("namespace", "uid map", "gid map")):
        advice = (
            ". User namespaces are blocked here. Debian: `sysctl kernel.unprivileged_userns_clone=1`. Ubuntu: an"
            " AppArmor profile for bwrap, or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`. Docker: a seccomp"
            " profile that allows `clone`, `unshare` and `mount`."
        )
    return SandboxUnavailable(f"{_CANNOT}: {said or 'the launch ended silently'}{advice}")


def memory_bytes(process: subprocess.Popen[bytes], enough_bytes: int) -> int:
    """Memory held by a launched program and all it started.

    Resident sizes first: cheap, but they count a shared page once for each process. Only where these pass
    `enough_bytes`, the proportional sizes (PSS), which are exact and cost milliseconds.
    """
    pids = tuple(_family(process.pid))
    resident_bytes = sum(_resident_bytes(pid) for pid in pids)
    return resident_bytes if resident_bytes < enough_bytes else sum(_proportional_bytes(pid) for pid in pids)


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What came of one attempt to break out."""

    name: str
    is_denied: bool
    detail: str


def self_test() -> tuple[ProbeResult, ...]:
    """Try to break out, in the very launch that kernels get, and say what was denied; takes a second and blocks.

    What the probes look for is really there: a server on loopback, socket files, a readable file, this process.
    Raises SandboxUnavailable where nothing can be launched at all.
    """
    directory = make_directory()
    try:
        with ExitStack() as stack:
            outside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plotline-probe-", dir="/tmp")))
            outside.chmod(0o755)
            (outside / "file").write_text("readable by anyone")
            tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            named = stack.enter_context(socket.socket(socket.AF_UNIX))
            named.bind(str(outside / "socket"))
            named.listen()
            (outside / "socket").chmod(0o777)
            abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
            abstract.bind(f"\0plotline-probe-{os.getpid()}")
            abstract.listen()
            targets = {
                "tcp_port": tcp.getsockname()[1],
                "socket_path": str(outside / "socket"),
                "abstract_socket": abstract.getsockname()[1:].decode(),
                "file_path": str(outside / "file"),
                "project_path": str(_SHIM.parent),
                "pid": os.getpid(),
                "environment": list(ENVIRONMENT),
            }
            output = stack.enter_context(tempfile.TemporaryFile())
            scripts = {"/probes.py": _PROBES.read_text()}
            with launch(directory, "/probes.py", json.dumps(targets), stdout=output.fileno(), scripts=scripts) as run:
                status = run.wait(_SELF_TEST_LIMIT_S)
                stderr = run.stderr.read() if run.stderr else b""
            output.seek(0)
            said = output.read()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if status != 0:
        raise failure(stderr)
    return tuple(ProbeResult(name, *result) for name, result in json.loads(said).items())


def _tool(name: str, package: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise SandboxUnavailable(
            f"{_CANNOT}: {package} is missing, the program `{name}`. Install it with `apt-get install {package}`."
        )
    return os.path.realpath(path)


def _refused_calls() -> bytes:
    if not seccomp.IS_AVAILABLE:
        raise SandboxUnavailable(
            f"{_CANNOT}: libseccomp is missing. Install it with `apt-get install libseccomp2`, and `pip install"
            " pyseccomp`."
        )
    return seccomp.filter_program()


@contextmanager
def _readable(contents: Sequence[bytes]) -> Iterator[tuple[int, ...]]:
    """Give each content a descriptor to read it from; nothing lies on a disk, and file modes do not matter."""
    with ExitStack() as stack:
        descriptors = []
        for content in contents:
            file = stack.enter_context(os.fdopen(os.memfd_create("plotline"), "r+b"))
            file.write(content)
            file.seek(0)
            descriptors.append(file.fileno())
        yield tuple(descriptors)


@cache
def _python_folders() -> tuple[str, ...]:
    """What the running interpreter needs besides `/usr`.

    Only these entries of its prefixes: a virtual environment made *in* a project's folder must not show the project.
    """
    prefixes = dict.fromkeys((sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix)))
    entries = [f"{prefix}/{name}" for prefix in prefixes for name in ("bin", "lib", "lib64", "pyvenv.cfg")]
    return tuple(path for path in entries if os.path.exists(path) and not path.startswith("/usr/"))


@cache
def _system() -> tuple[str, ...]:
    """Arguments that show the system's programs and the running Python, read-only."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for path in map(Path, ("/bin", "/lib", "/lib64")):
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), str(path)]
        elif path.exists():
            arguments += ["--ro-bind", str(path), str(path)]
    for name in ("/etc/fonts", "/etc/ld.so.cache", "/etc/alternatives"):
        arguments += ["--ro-bind-try", name, name]
    for name in _python_folders():
        arguments += ["--ro-bind", name, name]
    return tuple(arguments)


def _walls(directory: Path) -> list[str]:
    """Arguments of the sandbox itself; every writable place has a size, and bubblewrap's own are made read-only."""
    environment = [word for pair in ENVIRONMENT.items() for word in ("--setenv", *pair)]
    return [
        *("--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY), "--disable-userns", "--cap-drop", "ALL"),
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--hostname", "kernel"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv", *environment),
        *("--size", str(64 * MIB), "--tmpfs", "/tmp", *_system(), "--proc", "/proc", "--dev", "/dev"),
        *("--size", str(16 * MIB), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *("--size", str(SCRATCH_BYTES), "--tmpfs", "/box", "--bind", str(directory), "/rt"),
    ]


def _give_to_nobody(directory: Path) -> None:
    try:
        for path in (directory, *directory.iterdir()):
            os.chown(path, NOBODY, NOBODY)
    except OSError as error:
        raise SandboxUnavailable(f"{_CANNOT}: root may not become `nobody` here ({error}).") from error


def _becoming_nobody(bubblewrap: str, directory: Path) -> list[str]:
    """Arguments before those of the sandbox, for a server that is root: show it what it needs, then give up root.

    bubblewrap makes the folders above a bind for its own user only, so they are made first, for everyone. The process
    namespace is what ends the sandbox with its launcher: a bubblewrap of root has given up the right to signal `nobody`
    (so `--die-with-parent` of the inner one is in vain), but what lives in a namespace dies with its first process.
    """
    setpriv = _tool("setpriv", "util-linux")
    shown = [str(directory), "/etc/fonts", *_python_folders()]
    parents = dict.fromkeys(str(parent) for path in shown for parent in reversed(Path(path).parents[:-1]))
    folders = [word for parent in parents for word in ("--dir", parent)]
    sockets = str(directory)
    return [
        *(bubblewrap, "--unshare-pid", "--die-with-parent", *folders, *_system(), "--bind", sockets, sockets),
        *("--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc"),
        *(setpriv, "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "--inh-caps", "-all"),
    ]


def _family(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _read(children).split():
            yield from _family(int(child))


def _resident_bytes(pid: int) -> int:
    words = _read(Path(f"/proc/{pid}/statm")).split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") if words else 0


def _proportional_bytes(pid: int) -> int:
    lines = _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _read(path: Path) -> str:
    """A file of /proc; empty where its process has just ended."""
    try:
        return path.read_text()
    except OSError:
        return ""
