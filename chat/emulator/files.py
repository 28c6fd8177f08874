"""The Files API in memory: resumable upload, get, list, delete, as google-genai's `client.files` speaks it.

Files live as long as the process, and the oldest go when all together pass TOTAL_LIMIT_BYTES.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from aiohttp import web

from chat.emulator.call import read_body
from chat.emulator.wire import WireError, WireObject

TOTAL_LIMIT_BYTES = 256 * 1024 * 1024
LIFETIME = timedelta(hours=48)


@dataclass(slots=True)
class StoredFile:
    """A file, complete or on its way."""

    name: str
    """`files/ID`, as the API calls it."""
    mime_type: str
    display_name: str
    uri: str
    data: bytearray = field(default_factory=bytearray)
    is_complete: bool = False
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def resource(self) -> WireObject:
        """The file as the API shows it."""
        digest = hashlib.sha256(self.data).hexdigest()
        resource: WireObject = {
            "name": self.name,
            "mimeType": self.mime_type,
            "sizeBytes": str(len(self.data)),
            "createTime": _timestamp(self.created_at),
            "updateTime": _timestamp(self.created_at),
            "expirationTime": _timestamp(self.created_at + LIFETIME),
            "sha256Hash": base64.b64encode(digest.encode()).decode(),
            "uri": self.uri,
            "state": "ACTIVE" if self.is_complete else "PROCESSING",
            "source": "UPLOADED",
        }
        return resource | ({"displayName": self.display_name} if self.display_name else {})


class FileStore:
    """All files of this process, and the routes to them."""

    def __init__(self) -> None:
        """Begin with none."""
        self._files: dict[str, StoredFile] = {}

    def routes(self) -> list[web.RouteDef]:
        """The Files API's paths, under any version."""
        return [
            web.post("/upload/{version}/files", self._upload),
            web.get("/{version}/files", self._list),
            web.get("/{version}/files/{id}", self._get),
            web.delete("/{version}/files/{id}", self._delete),
        ]

    def by_uri(self, uri: str) -> StoredFile | None:
        """The complete file of a `fileData.fileUri`."""
        return next((file for file in self._files.values() if file.uri == uri and file.is_complete), None)

    async def _upload(self, request: web.Request) -> web.Response:
        if "upload_id" in request.query:
            return await self._receive(request)
        if request.headers.get("X-Goog-Upload-Command") != "start":
            raise WireError(400, "Invalid upload command: the first request must be 'start'.")
        data = await request.read()
        wanted = (read_body(data) if data else {}).get("file") or {}
        if not isinstance(wanted, dict):
            raise WireError(400, "Invalid value at 'file', Root element must be a message.")
        key = str(wanted.get("name") or "").removeprefix("files/") or secrets.token_hex(6)
        if key in self._files:
            raise WireError(409, f"File files/{key} already exists.", "ALREADY_EXISTS")
        file = StoredFile(
            name=f"files/{key}",
            mime_type=str(wanted.get("mimeType") or request.headers.get("X-Goog-Upload-Header-Content-Type", "")),
            display_name=str(wanted.get("displayName") or request.headers.get("X-Goog-Upload-File-Name", "")),
            uri=f"{request.url.origin()}/{request.match_info['version']}/files/{key}",
        )
        self._files[key] = file
        there = str(request.url.with_query(upload_id=key, upload_protocol="resumable"))
        return web.Response(headers={"X-Goog-Upload-URL": there, "X-Goog-Upload-Status": "active"})

    async def _receive(self, request: web.Request) -> web.Response:
        file = self._files.get(request.query["upload_id"])
        if file is None or file.is_complete:
            raise WireError(404, "Upload not found or already final.", "NOT_FOUND")
        commands = [word.strip() for word in request.headers.get("X-Goog-Upload-Command", "").split(",")]
        if request.headers.get("X-Goog-Upload-Offset", "0") != str(len(file.data)):
            raise WireError(400, f"Invalid upload offset: {len(file.data)} bytes were received so far.")
        if "upload" in commands:
            file.data += await request.read()
        if "finalize" not in commands:
            return web.Response(headers={"X-Goog-Upload-Status": "active"})
        file.is_complete = True
        self._make_room()
        return web.json_response({"file": file.resource()}, headers={"X-Goog-Upload-Status": "final"})

    async def _list(self, request: web.Request) -> web.Response:
        files = [file.resource() for file in self._files.values() if file.is_complete]
        return web.json_response({"files": files} if files else {})

    async def _get(self, request: web.Request) -> web.Response:
        return web.json_response(self._find(request).resource())

    async def _delete(self, request: web.Request) -> web.Response:
        del self._files[self._find(request).name.removeprefix("files/")]
        return web.json_response({})

    def _find(self, request: web.Request) -> StoredFile:
        file = self._files.get(request.match_info["id"])
        if file is None:
            # The real API answers 403 for a file that is not there.
            raise WireError(
                403,
                f"You do not have permission to access the File {request.match_info['id']} or it may not exist.",
                "PERMISSION_DENIED",
            )
        return file

    def _make_room(self) -> None:
        while sum(len(file.data) for file in self._files.values()) > TOTAL_LIMIT_BYTES:
            del self._files[next(iter(self._files))]


def _timestamp(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
