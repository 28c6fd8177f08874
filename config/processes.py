"""Settings of server processes: how they reach each other, and how they end."""

from __future__ import annotations

from config.env import Env

env = Env()

#: The Redis server that carries live updates between server processes, for example `redis://host:6379/0`. If this is
#: empty, there may be only one server process.
REDIS_URL = env.url("REDIS_URL", ("redis", "rediss", "unix"))
CHANNEL_LAYERS = {
    "default": (
        {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {
                # The layer waits 5 s for a message. The client's own limit, also 5 s, would sometimes be reached first.
                "hosts": [{"address": REDIS_URL, "socket_timeout": 15}],
                # Processes join their group every few seconds. One that was killed is forgotten after a minute.
                "group_expiry": 60,
            },
        }
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    )
}

#: Seconds for which answers may go on after SIGTERM. Then they are marked as interrupted. The process ends at most 10 s
#: later, so its stop timeout (`TimeoutStopSec`, `stop_grace_period`) must be longer by this. 0: interrupt at once.
DRAIN_SECONDS = env.integer("DRAIN_SECONDS", 30)

#: Dotted path of a function that a thread of the worker calls when nothing has to be uploaded or deleted. It returns
#: whether there was work. It is a setting, because `attachments` must not import `chat`.
WORKER_STEP = "chat.library.imports.jobs.run_one_step"
