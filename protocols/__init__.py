"""Strategies that are not tied to one game."""

from protocols.dsm import Dsm, DsmPrivate, DsmWelfare
from protocols.imap import Imap
from protocols.scripted import FirstFree, Silent
from protocols.sdmap import SdMap, SdMapCareful
from protocols.typed import Payload, Received, TypedProtocol, direct, send_all

__all__ = [
    "Dsm",
    "DsmPrivate",
    "DsmWelfare",
    "FirstFree",
    "Imap",
    "Payload",
    "Received",
    "SdMap",
    "SdMapCareful",
    "Silent",
    "TypedProtocol",
    "direct",
    "send_all",
]
