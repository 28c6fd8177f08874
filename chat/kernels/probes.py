"""What a hostile program would try first, tried from inside the sandbox.

Stands alone: it is handed over by its text and run by the shim under a kernel's own limits. Prints one JSON object,
from the name of each probe to `[whether it was denied, what happened]`. A probe that returns has got through; one that
raises OSError or MemoryError was denied.

    probes.py '{"tcp_port": ..., "abstract_socket": ..., "socket_path": ..., "file_path": ..., "pid": ..., ...}'
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
TARGETS: dict[str, Any] = json.loads(sys.argv[1])
PROBES: dict[str, Callable[[], object]] = {}
CALLS = {
    # name: number on x86_64, number on aarch64
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "mount": (165, 40),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone3": (435, 435),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "pidfd_getfd": (438, 438),
    "syslog": (103, 116),
}
NEW_USER_NAMESPACE = 0x10000000


def probe(function: Callable[[], object]) -> Callable[[], object]:
    """Register a probe under its function's name."""
    PROBES[function.__name__] = function
    return function


def call(name: str, *arguments: int | bytes | None) -> int:
    """Make a system call by its number; raises OSError where it fails."""
    number = CALLS[name][platform.machine() == "aarch64"]
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = int(LIBC.syscall(number, *words))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def refused(name: str, *arguments: int | bytes | None) -> Callable[[], object]:
    """Probe a call with arguments that would do no harm; only a refusal (not "bad argument") counts as denied."""

    def attempt() -> object:
        try:
            return call(name, *arguments)
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS):
                raise
            return f"not refused: {error}"

    return attempt


def connection(family: int, kind: int, address: Any) -> object:  # noqa: ANN401 - its shape depends on the family
    """Connect, and send a byte where connecting alone says nothing."""
    with socket.socket(family, kind) as attempt:
        attempt.settimeout(2)
        attempt.connect(address)
        return attempt.send(b"x")


def readable(path: str) -> str:
    """Read a little of a file or folder that should not be there."""
    return str(os.listdir(path)[:3]) if Path(path).is_dir() else repr(os.read(os.open(path, os.O_RDONLY), 8))


def written(path: str) -> str:
    """Make a file."""
    Path(path).write_bytes(b"x")
    return f"wrote {path}"


@probe
def connect_to_host_over_tcp() -> object:
    """A server of the host, on loopback."""
    return connection(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", TARGETS["tcp_port"]))


@probe
def connect_to_host_over_ipv6() -> object:
    """The same by its other address."""
    return connection(socket.AF_INET6, socket.SOCK_STREAM, ("::1", TARGETS["tcp_port"]))


@probe
def send_udp_to_the_internet() -> object:
    """A packet that nobody needs to answer."""
    return connection(socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53))


@probe
def reach_cloud_metadata() -> object:
    """Where clouds hand out a machine's credentials."""
    return connection(socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))


@probe
def look_up_a_name() -> object:
    """DNS."""
    return socket.getaddrinfo("example.com", 80)


@probe
def open_raw_and_virtual_machine_sockets() -> object:
    """Families that a network namespace does not hold: packet, vsock, bluetooth, alg."""
    opened = []
    for family in (socket.AF_PACKET, socket.AF_VSOCK, 31, 38):
        try:
            socket.socket(family, socket.SOCK_RAW if family == socket.AF_PACKET else socket.SOCK_STREAM).close()
            opened.append(family)
        except OSError as error:
            if error.errno != errno.EPERM:
                opened.append(family)
    return opened or denied("every family")


@probe
def connect_to_a_socket_file_of_the_host() -> object:
    """How databases, caches and container daemons listen."""
    return connection(socket.AF_UNIX, socket.SOCK_STREAM, TARGETS["socket_path"])


@probe
def connect_to_an_abstract_socket_of_the_host() -> object:
    """The same without a file."""
    return connection(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + TARGETS["abstract_socket"])


@probe
def connect_to_well_known_sockets() -> object:
    """Docker, PostgreSQL, Redis, D-Bus, systemd, by their usual names."""
    names = ("/run/docker.sock", "/var/run/docker.sock", "/run/postgresql/.s.PGSQL.5432", "/run/redis/redis.sock")
    for name in (*names, "/run/dbus/system_bus_socket", "/run/systemd/private"):
        try:
            connection(socket.AF_UNIX, socket.SOCK_STREAM, name)
        except OSError:
            continue
        return name
    return denied("every one")


@probe
def read_a_file_of_the_host() -> object:
    """A file that anyone on the host may read."""
    return readable(TARGETS["file_path"])


@probe
def read_the_servers_program() -> object:
    """The project's own folder: its source, its `.env`, its database."""
    return readable(TARGETS["project_path"])


@probe
def read_system_files() -> object:
    """Passwords, keys, home folders, logs."""
    found = []
    for path in ("/etc/passwd", "/etc/shadow", "/root/.ssh", "/home", "/var", "/sys", "/run", "/root/.bashrc"):
        try:
            found.append(readable(path))
        except OSError:
            continue
    return found or denied("every one")


@probe
def find_secrets_in_environments() -> object:
    """The environment of every visible process, the launcher's included, holds the known names only."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            found |= {entry.split(b"=")[0].decode() for entry in path.read_bytes().split(b"\0") if entry}
        except OSError:
            continue
    unknown = found - set(TARGETS["environment"]) - {"PWD", "LC_CTYPE", "OLDPWD"}
    return sorted(unknown) or denied("nothing but our own names")


@probe
def see_processes_of_the_host() -> object:
    """Process ids above those that a sandbox has just begun to give out."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return pids if len(pids) > 8 else denied(f"{len(pids)} processes")


@probe
def signal_a_process_of_the_host() -> object:
    """The server itself, by its number outside."""
    os.kill(TARGETS["pid"], 0)
    return "it is there"


@probe
def read_the_first_process() -> object:
    """bubblewrap's own memory, through /proc."""
    return readable("/proc/1/mem")


@probe
def hold_capabilities() -> object:
    """Any capability, or a way to get one back by a set-uid program."""
    status = Path("/proc/self/status").read_text()
    lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    held = {name: lines[name] for name in ("CapPrm", "CapEff", "CapInh", "CapBnd", "CapAmb") if int(lines[name], 16)}
    return held or lines["NoNewPrivs"] != "1" or denied("none, and none to come")


@probe
def be_root() -> object:
    """User id 0, or becoming it."""
    if os.getuid() == 0:
        return "is root"
    os.setuid(0)
    return "became root"


@probe
def make_a_user_namespace_by_clone() -> object:
    """Where most holes of the last years began; the child, if any, ends at once."""
    number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    pid = LIBC.syscall(number, ctypes.c_long(NEW_USER_NAMESPACE | signal.SIGCHLD), None, None, None, None)
    if pid == 0:
        os._exit(0)
    return f"child {pid}" if pid > 0 else denied(os.strerror(ctypes.get_errno()))


@probe
def run_bubblewrap_again() -> object:
    """A sandbox in the sandbox, where one would be root."""
    done = subprocess.run(
        ["/usr/bin/bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True, check=False
    )
    return "it ran" if done.returncode == 0 else denied(done.stderr.decode().strip())


@probe
def type_into_the_terminal() -> object:
    """TIOCSTI: as if the operator had typed it."""
    try:
        return fcntl.ioctl(0, 0x5412, b"x")
    except OSError as error:
        return denied(error) if error.errno == errno.EPERM else f"not refused: {error}"


@probe
def write_outside_the_working_directory() -> object:
    """The root, system folders, the interpreter, devices, the kernel's switches."""
    places = ("/x", "/usr/x", "/dev/x", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/shim.py")
    done = []
    scratch = os.stat("/tmp").st_dev
    for path in (*places, f"{sys.prefix}/x", f"{sys.prefix}/lib/x", f"{sys.base_prefix}/lib/x"):
        try:
            if os.stat(os.path.dirname(path)).st_dev == scratch:
                # A checkout below /tmp: what is not bound there is the sandbox's own scratch, not the host's disk.
                continue
            done.append(written(path))
        except OSError:
            continue
    return done or denied("every one")


@probe
def write_a_file_to_the_hosts_disk() -> object:
    """`/rt` is a folder of the host."""
    return written("/rt/x")


@probe
def plant_a_link_on_the_hosts_disk() -> object:
    """For the server to follow."""
    os.symlink("/etc/shadow", "/rt/out.png")
    return "planted"


@probe
def make_a_device() -> object:
    """The host's disk, by number."""
    os.mknod("/box/disk", 0o60600, os.makedev(254, 0))
    return "made"


@probe
def write_a_large_file() -> object:
    """More than one file may have."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        os.truncate(os.open("/box/large", os.O_CREAT | os.O_RDWR), 65 * 1024 * 1024)
    finally:
        os.unlink("/box/large")
    return "written"


@probe
def fork_without_end() -> object:
    """A hundred children; all are ended again."""
    children: list[int] = []
    try:
        for _ in range(100):
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            children.append(pid)
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return f"{len(children)} children"


@probe
def take_all_memory() -> object:
    """64 GiB in one piece."""
    return len(bytearray(64 * 1024**3))


@probe
def raise_a_limit() -> object:
    """Give oneself more processes."""
    try:
        resource.setrlimit(resource.RLIMIT_NPROC, (4096, 4096))
    except ValueError as error:
        return denied(error)
    return "raised"


def denied(what: object) -> object:
    """Say that a probe met its wall without an error of its own."""
    raise PermissionError(str(what))


def run() -> dict[str, tuple[bool, str]]:
    """Try everything."""
    harmless: dict[str, tuple[int | bytes | None, ...]] = {
        "ptrace": (16, 1, 0, 0),
        "keyctl": (0, -3, 1),
        "unshare": (NEW_USER_NAMESPACE,),
        "memfd_create": (b"x", 0),
        "shmget": (0, 4096, 0o1600),
        "semget": (0, 1, 0o1600),
        "mq_open": (b"x", 0),
        "syslog": (10, 0, 0),
        "chroot": (b"/box",),
    }
    for name in CALLS:
        PROBES[f"call_{name}"] = refused(name, *harmless.get(name, (0, 0, 0, 0, 0)))
    results = {}
    for name, attempt in PROBES.items():
        try:
            results[name] = (False, str(attempt()))
        except (OSError, MemoryError) as error:
            results[name] = (True, str(error) or type(error).__name__)
    return results


if __name__ == "__main__":
    signal.alarm(20)
    print(json.dumps(run()))
