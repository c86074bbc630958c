"""Replies on disk, one file each, by the hash of the complete request. Several processes may share a folder."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from uuid import uuid4

from pydantic import ValidationError

from framework.errors import UserError
from framework.messages import Frozen
from protocols.models.completion import Completion

__all__ = ["ReplyCache"]

_log = logging.getLogger("cheaptalk.models")


class _Entry(Frozen):
    """A cached reply.

    Attributes:
        model: The short form of the model, for people who look into the folder.
        reply: The reply as the provider gave it.
    """

    model: str
    reply: Completion


class ReplyCache:
    """A folder of replies.

    Args:
        folder: Made if it is not there.

    Raises:
        UserError: If the folder cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cache {folder}: {error.strerror}; name a folder that can be written") from error
        self._folder = folder

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> Completion | None:
        """The reply to a request; None if there is none, or if its file is torn."""
        try:
            entry = _Entry.model_validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None
        return entry.reply.model_copy(update={"cached": True})

    def put(self, key: str, model: str, reply: Completion) -> None:
        """Keep a reply, whole or not at all. Where it cannot be kept, play goes on and a warning says so."""
        path = self._path(key)
        temporary = path.with_name(f".{uuid4().hex}.tmp")
        try:
            path.parent.mkdir(exist_ok=True)
            temporary.write_text(_Entry(model=model, reply=reply).model_dump_json(), encoding="utf-8")
            os.replace(temporary, path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            _log.warning("cache %s: %s; this reply is not kept", self._folder, error.strerror)
