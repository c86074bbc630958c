"""Verdicts in JUnit's XML, which CI systems read: a suite for each arm, a case for each threshold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from adversarial.stress.gate import Verdict
from framework.errors import UserError

__all__ = ["ArmReport", "as_junit", "write_junit"]

_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class ArmReport(NamedTuple):
    """How an arm went.

    Attributes:
        condition: The open channels.
        opponent: The opponent.
        games: Games that were planned.
        seconds: How long its games took.
        aborted: One sentence about each game that could not be finished.
        verdicts: Its verdicts; the cooperative arm has none.
    """

    condition: str
    opponent: str
    games: int
    seconds: float
    aborted: Sequence[str]
    verdicts: Sequence[Verdict]


def as_junit(subject: str, arms: Sequence[ArmReport]) -> bytes:
    """The document.

    A suite has one case for its games, in error if any was aborted, and one for each threshold.
    """
    root = ElementTree.Element("testsuites", name=_text(f"cheaptalk stress {subject}"))
    for arm in arms:
        _suite(root, subject, arm)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.attrib[count]) for suite in root)))
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _suite(root: ElementTree.Element, subject: str, arm: ArmReport) -> None:
    failed = [verdict for verdict in arm.verdicts if not verdict.passed]
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=_text(f"{arm.opponent} on {arm.condition}"),
        tests=str(1 + len(arm.verdicts)),
        failures=str(len(failed)),
        errors=str(int(bool(arm.aborted))),
        time=f"{arm.seconds:.3f}",
    )
    where = _text(f"stress.{subject}.{arm.condition}.{arm.opponent}")
    games = ElementTree.SubElement(suite, "testcase", classname=where, name=f"{arm.games} games are finished")
    games.set("time", f"{arm.seconds:.3f}")
    if arm.aborted:
        error = ElementTree.SubElement(games, "error", message=f"{len(arm.aborted)} of {arm.games} games aborted")
        error.text = _text("\n".join(arm.aborted))
    for verdict in arm.verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname=where, name=_text(verdict.threshold.text), time="0")
        if not verdict.passed:
            ElementTree.SubElement(case, "failure", message=_text(verdict.why))


def _text(text: str) -> str:
    """Text without what XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def write_junit(path: Path, subject: str, arms: Sequence[ArmReport]) -> None:
    """Write the document.

    Raises:
        UserError: If it cannot be written.
    """
    try:
        path.write_bytes(as_junit(subject, arms))
    except OSError as error:
        raise UserError(f"--junit {path} cannot be written ({error.strerror}); name another file") from error
