"""A provider on this machine: an OpenAI-compatible server that answers from a function."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Respond = Callable[[dict[str, Any]], tuple[int, str | bytes]]


class Provider:
    """What a server was asked, and where it listens."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.authorizations: list[str] = []
        self.base_url = ""


@contextmanager
def provider(respond: Respond) -> Iterator[Provider]:
    """Serve until the block ends. `respond` gives a status and the text of the reply, or a whole body in bytes."""
    found = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.requests.append(body)
            found.authorizations.append(self.headers.get("Authorization", ""))
            status, text = respond(body)
            whole = text if isinstance(text, bytes) else b""
            said = text if isinstance(text, str) else ""
            form = _reply(body, said) if status == 200 else {"error": {"message": said}}
            data = whole or json.dumps(form).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)  # seconds until it ends
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _reply(body: dict[str, Any], text: str) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
    }
