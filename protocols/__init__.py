"""Strategies that are not tied to one game."""

from protocols.imap import Imap
from protocols.scripted import FirstFree, Silent
from protocols.typed import Payload, Received, TypedProtocol, direct, send_all

__all__ = ["FirstFree", "Imap", "Payload", "Received", "Silent", "TypedProtocol", "direct", "send_all"]
