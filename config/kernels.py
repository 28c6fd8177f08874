"""Settings of Python sessions. `.env.example` describes the variables that are read here."""

from __future__ import annotations

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config.env import Env
from config.folders import VAR_DIR

env = Env()

#: URL of a Jupyter Server, Kernel Gateway or Enterprise Gateway that runs the kernels. Empty: the service of this
#: machine.
JUPYTER_GATEWAY_URL = env.url("JUPYTER_GATEWAY_URL", ("http", "https")).rstrip("/")
#: Token for the server at this URL.
JUPYTER_GATEWAY_TOKEN = env.secret("JUPYTER_GATEWAY_TOKEN")
#: The folder of the service on this machine, where its control socket is.
KERNEL_SERVICE_DIR = Path(env.text("KERNEL_SERVICE_DIR", str(VAR_DIR / "kernels"))).absolute()
#: Whether the service on this machine runs code without a sandbox: as its own user, with access to all of its files.
KERNELS_WITHOUT_SANDBOX = env.boolean("KERNELS_WITHOUT_SANDBOX", default=False)
#: Memory of one kernel on this machine, in MiB. A kernel that exceeds it is ended.
KERNEL_MEMORY_LIMIT_MIB = env.integer("KERNEL_MEMORY_LIMIT_MIB", 1536, minimum=256)

#: Maximum number of Python sessions at the same time, on all server processes together. 0 turns Python sessions off.
KERNELS_LIMIT = env.integer("KERNELS_LIMIT", 12)
#: Maximum number of Python sessions of one user at the same time.
KERNELS_PER_USER_LIMIT = env.integer("KERNELS_PER_USER_LIMIT", 3, minimum=1)
#: Seconds that code waits for a free session before the model is told that there is none.
KERNEL_WAIT_LIMIT_S = 60
#: Seconds without use after which a session is ended.
KERNEL_IDLE_LIMIT_S = 900
#: Maximum time, in seconds, that one call may run code. It should be shorter than TURN_LIMIT_S.
KERNEL_CELL_LIMIT_S = 120

#: Dotted path of the function that is called with each file that a person uploads. It is a setting, because
#: `attachments` must not import `chat`.
UPLOAD_LISTENER = "chat.python.table_readings.reading_requests.read_upload"
#: Dotted path of the function that returns the cells of an attached workbook as text, or `None`. It is a setting,
#: because `chat.messages` must not import `chat.python`.
WORKBOOK_READER = "chat.python.table_readings.workbook_texts.workbook_text"

if JUPYTER_GATEWAY_TOKEN and not JUPYTER_GATEWAY_URL:
    raise ImproperlyConfigured("JUPYTER_GATEWAY_TOKEN is set, but no server: set JUPYTER_GATEWAY_URL too.")
if JUPYTER_GATEWAY_URL and KERNELS_WITHOUT_SANDBOX:
    raise ImproperlyConfigured(
        "KERNELS_WITHOUT_SANDBOX is on, but the server at JUPYTER_GATEWAY_URL runs the kernels: unset one of them."
    )


#: Maximum number of programs of the demo model at the same time, beside Python sessions
#: (`chat.emulator.demo_model.KERNELS_LIMIT`).
_DEMO_KERNELS = 8
#: Maximum number of tables that are described at the same time
#: (`chat.python.table_readings.kernel_reading.PREVIEWS_LIMIT`).
_PREVIEW_KERNELS = 2
#: Maximum number of conversations whose code runs on a newer file at the same time
#: (`chat.python.newer_files.run.RUNS_LIMIT`).
_NEWER_FILE_KERNELS = 1
#: Number of conversations whose code `chat.python.reruns.nightly` runs again at the same time.
_NIGHTLY_KERNELS = 1
#: The service ends a kernel without a client only long after the web server should have ended its session.
_SERVICE_IDLE_FACTOR = 3


def service_arguments() -> list[str]:
    """Return the arguments of `chat.python.kernels.service`, or an empty list if another server runs the kernels."""
    if JUPYTER_GATEWAY_URL:
        return []
    arguments = ["--directory", str(KERNEL_SERVICE_DIR)]
    arguments += ["--memory-limit", str(KERNEL_MEMORY_LIMIT_MIB)]
    # The service's own limits must not be reached before those of the settings.
    others = _DEMO_KERNELS + _PREVIEW_KERNELS + _NEWER_FILE_KERNELS + _NIGHTLY_KERNELS
    arguments += ["--kernels-limit", str(KERNELS_LIMIT + others)]
    arguments += ["--idle-limit", str(_SERVICE_IDLE_FACTOR * KERNEL_IDLE_LIMIT_S)]
    return [*arguments, "--without-sandbox"] if KERNELS_WITHOUT_SANDBOX else arguments
