"""The pages as a local server, which reads traces when a page asks for them."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import UserError
from framework.pages.content import ASSETS, Content, asset, front_html
from framework.pages.runs import Run
from framework.trace import TraceError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["listen", "make_app", "require_server", "serve"]

_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_HEADERS = {
    "Cache-Control": "no-store",
    # Another site that is open in the same browser must not load the data files as its own scripts.
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
_OWN_REQUESTS = ("same-origin", "none")


def make_app(runs: Sequence[Run], *, title: str = "", hosts: Sequence[str] = ("127.0.0.1", "localhost")) -> Starlette:
    """The pages of some runs as an ASGI application; a page that is loaded anew shows what is new on disk.

    Args:
        runs: The runs.
        title: Title of the pages.
        hosts: The host names under which it may be addressed.

    Raises:
        UserError: If the extra that it needs is not installed.
    """
    require_server()
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.routing import Route

    desk = _Desk(Content(runs, title=title, traces=True))
    return Starlette(
        routes=[
            Route("/", desk.index),
            Route("/assets/{name}", desk.asset),
            Route("/data/{key:path}.js", desk.data),
            Route("/traces/{run}/{number:int}.json", desk.trace),
        ],
        # A name that resolves to this machine only for the attacker's page must not reach the data.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))],
    )


class _Desk:
    """Answers requests, one at a time where runs are read."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._lock = threading.Lock()

    def index(self, request: Request) -> Response:
        return _answer(front_html("live"), "text/html")

    def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        return _answer(asset(name), _TYPES[Path(name).suffix]) if name in ASSETS else _missing()

    def data(self, request: Request) -> Response:
        if _foreign(request):
            return _missing()
        key = request.path_params["key"]
        try:
            with self._lock:
                if key == "front":
                    for run in self._content.runs.values():
                        run.refresh()
                script = self._content.script(key)
        except (TraceError, UserError) as error:
            return _answer(str(error), "text/plain", 500)
        return _missing() if script is None else _answer(script, "text/javascript")

    def trace(self, request: Request) -> Response:
        run = self._content.runs.get(request.path_params["run"])
        path = run.trace(request.path_params["number"]) if run else None
        if path is None or _foreign(request):
            return _missing()
        return _answer(path.read_bytes(), "application/json")


def _foreign(request: Request) -> bool:
    """Whether a page of another site asks."""
    return request.headers.get("sec-fetch-site", "none") not in _OWN_REQUESTS


def _answer(body: str | bytes, type: str, status: int = 200) -> Response:
    from starlette.responses import Response

    return Response(body, status, _HEADERS, media_type=type)


def _missing() -> Response:
    return _answer("There is nothing here.", "text/plain", 404)


def require_server() -> None:
    """See to it that pages can be served.

    Raises:
        UserError: If the extra that it needs is not installed.
    """
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise UserError("cheaptalk view needs the extra view; run pip install 'cheaptalk[view]'")


def listen(host: str, port: int) -> socket.socket:
    """A socket that the pages can be served on, before anything is read. Who connects waits until they are.

    Raises:
        UserError: If the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen()
    except OSError as error:
        made.close()
        raise UserError(
            f"--host {host} --port {port} cannot be used ({error.strerror}); give another --port"
        ) from error
    return made


def _hosts(host: str) -> Sequence[str]:
    """The names under which pages on an address may be asked for."""
    return ("*",) if host in ("0.0.0.0", "::") else ("127.0.0.1", "localhost", host)


def serve(
    runs: Sequence[Run], on: socket.socket, *, title: str = "", host: str = "127.0.0.1", opened: str = ""
) -> None:
    """Serve the pages of some runs until it is interrupted.

    Args:
        runs: The runs.
        on: The socket, from `listen`.
        title: Title of the pages.
        host: The host name under which it is addressed, besides this machine's own.
        opened: An address to open in a browser once it is served.

    Raises:
        UserError: If the extra that it needs is not installed.
    """
    app = make_app(runs, title=title, hosts=_hosts(host))
    import uvicorn

    if opened:
        threading.Timer(0.5, webbrowser.open, [opened]).start()
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[on])
