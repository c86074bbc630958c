"""Runs every code block of the README and of the docs, as a reader would from top to bottom.

A document is played in a folder of its own. Blocks are Python (run in one namespace for the document),
shell (```bash: each block must succeed), or files (any block with title="NAME" is written to that name;
a Python one is not run besides). A ```text block after a shell block is what the shell block prints;
a line of three dots in it stands for any lines. ```sh blocks are the two installation commands of the
README, which `.ci/run` runs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sybil import Document, Example, Region, Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

from tests.modules import forget_temporary_modules

FENCE = re.compile(r"^```(?P<language>\w+)(?P<info>[^\n]*)\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="(?P<name>[^"]+)"')


def _files_and_shell(document: Document) -> Iterable[Region]:
    for match in FENCE.finditer(document.text):
        language, info, body = match["language"], match["info"], match["body"]
        title = TITLE.search(info)
        if title:
            yield Region(match.start(), match.end(), (title["name"], body), _write)
        elif language == "bash":
            yield Region(match.start(), match.end(), body, _run)
        elif language == "text":
            yield Region(match.start(), match.end(), body, _compare)


def _write(example: Example) -> None:
    name, body = example.parsed
    target = Path(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(body)


def _run(example: Example) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", example.parsed],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"},
        timeout=600,
    )
    assert done.returncode == 0, f"{example.parsed}\nexited {done.returncode}\n{done.stdout}\n{done.stderr}"
    example.namespace["_printed"] = done.stdout


def _compare(example: Example) -> None:
    printed = _tidy(example.namespace.pop("_printed", ""))
    pattern = ".*".join(re.escape(part) for part in re.split(r"^\.\.\.$", _tidy(example.parsed), flags=re.MULTILINE))
    assert re.fullmatch(pattern, printed, re.DOTALL), (
        f"it prints\n\n{printed}\n\nand the document says\n\n{example.parsed}"
    )


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


class _PlainPython(PythonCodeBlockParser):
    """Python blocks without a title."""

    def __call__(self, document: Document) -> Iterable[Region]:
        for region in super().__call__(document):
            if 'title="' not in document.text[region.start : document.text.find("\n", region.start)]:
                yield region


def _enter(namespace: dict[str, object]) -> None:
    namespace["_home"] = os.getcwd()
    namespace["_folder"] = tempfile.mkdtemp(prefix="cheaptalk-docs-")
    os.chdir(str(namespace["_folder"]))
    sys.path.insert(0, str(namespace["_folder"]))


def _leave(namespace: dict[str, object]) -> None:
    os.chdir(str(namespace["_home"]))
    sys.path.remove(str(namespace["_folder"]))
    forget_temporary_modules()
    shutil.rmtree(str(namespace["_folder"]), ignore_errors=True)


pytest_collect_file = Sybil(
    parsers=[_PlainPython(), _files_and_shell],
    path=str(Path(__file__).parent.parent),
    patterns=["README.md", "docs/*.md"],
    setup=_enter,
    teardown=_leave,
).pytest()
