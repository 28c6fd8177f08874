"""OpenStack Swift with its S3 interface, from Debian's packages: a proxy, and servers for its three kinds of data."""

from __future__ import annotations

import getpass
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import boto3

from tests.drills.services import Service, find_program
from tests.ports import free_port

if TYPE_CHECKING:
    from botocore.client import BaseClient

BUCKET = "graphs"
ACCOUNT, USER, KEY = "drills", "key", "secret"
REGION = "us-east-1"
KINDS = ("account", "container", "object")

DEFAULTS = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = {user}
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
disable_fallocate = true
log_address = /dev/null
"""
SERVER = """
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""
#: No memcached runs, so every request reads from the servers themselves.
PROXY = """
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_drills_key = secret .admin
"""
FILTERS = ("catch_errors", "gatekeeper", "healthcheck", "listing_formats", "bulk", "slo", "dlo")


class Swift:
    """A storage server with one device. It reads its hash settings from the package's /etc/swift/swift.conf."""

    def __init__(self, folder: Path) -> None:
        """Write the configuration and the rings."""
        (folder / "devices" / "d1").mkdir(parents=True)
        self._folder = folder
        self._servers = [self._new_server(kind) for kind in KINDS]
        proxy = PROXY + "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n" for name in FILTERS)
        self._proxy = self._new_service("proxy", free_port(), proxy)

    def _new_server(self, kind: str) -> Service:
        port = free_port()
        builder = str(self._folder / f"{kind}.builder")
        for arguments in (["create", "4", "1", "0"], ["add", f"r1z1-127.0.0.1:{port}/d1", "1"], ["rebalance"]):
            command = [find_program("swift-ring-builder"), builder, *arguments]
            subprocess.run(command, check=True, capture_output=True)
        return self._new_service(kind, port, SERVER.format(kind=kind))

    def _new_service(self, kind: str, port: int, settings: str) -> Service:
        path = self._folder / f"{kind}.conf"
        path.write_text(DEFAULTS.format(port=port, user=getpass.getuser(), folder=self._folder) + settings)
        return Service([find_program(f"swift-{kind}-server"), str(path)], port, self._folder / f"{kind}.log")

    @property
    def variables(self) -> dict[str, str]:
        """The settings of an installation that stores its attachments here."""
        return {
            "AWS_STORAGE_BUCKET_NAME": BUCKET,
            "AWS_S3_ENDPOINT_URL": f"http://127.0.0.1:{self._proxy.port}",
            "AWS_S3_REGION_NAME": REGION,
            "AWS_ACCESS_KEY_ID": f"{ACCOUNT}:{USER}",
            "AWS_SECRET_ACCESS_KEY": KEY,
        }

    def start(self) -> None:
        """Start all servers."""
        for service in (*self._servers, self._proxy):
            service.start()

    def stop(self) -> None:
        """Stop all servers. Objects stay."""
        for service in (self._proxy, *self._servers):
            service.stop()

    def go_away(self) -> None:
        """Stop the proxy, so that connections are refused."""
        self._proxy.stop()

    def come_back(self) -> None:
        """Start the proxy again."""
        self._proxy.start()

    def client(self) -> BaseClient:
        """Return a client of the S3 interface."""
        return boto3.client(
            "s3",
            endpoint_url=self.variables["AWS_S3_ENDPOINT_URL"],
            aws_access_key_id=self.variables["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=KEY,
            region_name=REGION,
        )

    def create_bucket(self) -> None:
        """Create the bucket of the installation."""
        self.client().create_bucket(Bucket=BUCKET)

    def names(self) -> list[str]:
        """Return the names of all stored objects."""
        pages = self.client().get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        return [entry["Key"] for page in pages for entry in page.get("Contents", [])]

    def read(self, name: str) -> bytes:
        """Return the content of an object."""
        data: bytes = self.client().get_object(Bucket=BUCKET, Key=name)["Body"].read()
        return data
