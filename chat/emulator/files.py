"""The Files API in memory: resumable upload, get, list and delete, as google-genai's `client.files` uses them.

Files live as long as the process. If all files together exceed TOTAL_LIMIT_BYTES, the oldest are deleted.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from aiohttp import web

from chat.emulator.generation_request import parse_body
from chat.emulator.wire import WireError, WireObject

TOTAL_LIMIT_BYTES = 256 * 1024 * 1024
LIFETIME = timedelta(hours=48)


@dataclass(slots=True)
class StoredFile:
    """A file whose upload is complete or in progress."""

    name: str
    """The resource name: `files/ID`."""
    mime_type: str
    display_name: str
    uri: str
    data: bytearray = field(default_factory=bytearray)
    is_complete: bool = False
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def resource(self) -> WireObject:
        """Return the file resource as the API sends it."""
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
    """Stores the files of this process and serves the Files API."""

    def __init__(self) -> None:
        """Create an empty store."""
        self._files: dict[str, StoredFile] = {}

    def routes(self) -> list[web.RouteDef]:
        """Return the routes of the Files API, for any API version."""
        return [
            web.post("/upload/{version}/files", self._upload),
            web.get("/{version}/files", self._list_files),
            web.get("/{version}/files/{id}", self._get_file),
            web.delete("/{version}/files/{id}", self._delete_file),
        ]

    def find_by_uri(self, uri: str) -> StoredFile | None:
        """Return the completely uploaded file that a `fileData.fileUri` names, or None."""
        return next((file for file in self._files.values() if file.uri == uri and file.is_complete), None)

    async def _upload(self, request: web.Request) -> web.Response:
        if "upload_id" in request.query:
            return await self._receive_bytes(request)
        if request.headers.get("X-Goog-Upload-Command") != "start":
            raise WireError(400, "Invalid upload command: the first request must be 'start'.")
        data = await request.read()
        metadata = (parse_body(data) if data else {}).get("file") or {}
        if not isinstance(metadata, dict):
            raise WireError(400, "Invalid value at 'file', Root element must be a message.")
        file_id = str(metadata.get("name") or "").removeprefix("files/") or secrets.token_hex(6)
        if file_id in self._files:
            raise WireError(409, f"File files/{file_id} already exists.", "ALREADY_EXISTS")
        file = StoredFile(
            name=f"files/{file_id}",
            mime_type=str(metadata.get("mimeType") or request.headers.get("X-Goog-Upload-Header-Content-Type", "")),
            display_name=str(metadata.get("displayName") or request.headers.get("X-Goog-Upload-File-Name", "")),
            uri=f"{request.url.origin()}/{request.match_info['version']}/files/{file_id}",
        )
        self._files[file_id] = file
        upload_url = str(request.url.with_query(upload_id=file_id, upload_protocol="resumable"))
        return web.Response(headers={"X-Goog-Upload-URL": upload_url, "X-Goog-Upload-Status": "active"})

    async def _receive_bytes(self, request: web.Request) -> web.Response:
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
        self._delete_oldest()
        return web.json_response({"file": file.resource()}, headers={"X-Goog-Upload-Status": "final"})

    async def _list_files(self, request: web.Request) -> web.Response:
        files = [file.resource() for file in self._files.values() if file.is_complete]
        return web.json_response({"files": files} if files else {})

    async def _get_file(self, request: web.Request) -> web.Response:
        return web.json_response(self._find(request).resource())

    async def _delete_file(self, request: web.Request) -> web.Response:
        del self._files[self._find(request).name.removeprefix("files/")]
        return web.json_response({})

    def _find(self, request: web.Request) -> StoredFile:
        file = self._files.get(request.match_info["id"])
        if file is None:
            # Like the real API, respond 403 and not 404 if the file does not exist.
            raise WireError(
                403,
                f"You do not have permission to access the File {request.match_info['id']} or it may not exist.",
                "PERMISSION_DENIED",
            )
        return file

    def _delete_oldest(self) -> None:
        while sum(len(file.data) for file in self._files.values()) > TOTAL_LIMIT_BYTES:
            del self._files[next(iter(self._files))]


def _timestamp(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
