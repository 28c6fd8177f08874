"""A model API whose answers are hostile: the last words of the question name the answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from bench.upstream import extract_prompt

FENCES = "".join(
    f"```{language}\n{(line * 16_384)[:16_384]}\n```\n\n"
    for language, line in (
        ("make", "\\'a\n"),
        ("r", "\"a.a.a_a['\n"),
        ("c", "/*\n"),
        ("html", "<a \n"),
        ("tex", "\\\n"),
    )
    * 4
)
"""Twenty blocks of code, over which lexers that backtrack take minutes."""
LONG = "".join(f"Paragraph {number} with *some* words and `code`.\n\n" for number in range(100_000))[:4_000_000]
"""Nearly as long as an answer may be."""
ANSWERS = {"fences": FENCES, "long": LONG}
CHUNK_CHARS = 2_000


class Handler(BaseHTTPRequestHandler):
    """Answers each request with the text that its question names, as fast as it is read."""

    def do_POST(self) -> None:
        """Stream the answer in Gemini's form."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words = extract_prompt(body).split()
        text = ANSWERS.get(words[-1] if words else "", "A title")
        is_stream = urlsplit(self.path).path.endswith(":streamGenerateContent")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
        self.end_headers()
        if not is_stream:
            self.wfile.write(json.dumps(response("A title", is_last=True)).encode())
            return
        for start in range(0, len(text), CHUNK_CHARS):
            chunk = response(text[start : start + CHUNK_CHARS], is_last=start + CHUNK_CHARS >= len(text))
            self.wfile.write(f"data: {json.dumps(chunk)}\r\n\r\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""


def response(text: str, *, is_last: bool) -> dict[str, object]:
    """Return one response of Gemini."""
    candidate: dict[str, object] = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
    if is_last:
        candidate["finishReason"] = "STOP"
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2}}


@contextmanager
def hostile_upstream() -> Iterator[str]:
    """Run the server in a thread, and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
