"""The pages as static files, which open from disk and can be hosted anywhere."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from framework.errors import UserError
from framework.pages.content import ASSETS, Content, asset, front_html
from framework.pages.runs import Run
from framework.runner import Progress, Tally

__all__ = ["write_site"]

_MARK = "cheaptalk-site"
_OURS = ("assets", "data", "traces", "index.html", _MARK)


def write_site(
    runs: Sequence[Run],
    out: Path,
    *,
    title: str = "",
    prompts: bool = True,
    traces: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write the pages of some runs into a folder; a site that is there already is replaced.

    Args:
        runs: The runs.
        out: The folder, made if there is none.
        title: Title of the site.
        prompts: Whether to write prompts, reasoning and other long texts.
        traces: Whether to copy the traces, to be downloaded from the pages.
        progress: Told of every game.

    Returns:
        The page to open.

    Raises:
        UserError: If the folder holds something else or cannot be written.
        TraceError: If a trace cannot be read.
    """
    content = Content(runs, title=title, prompts=prompts, traces=traces)
    try:
        _clear(out)
        _write_games(content, out, traces, progress)
        digest = hashlib.sha256()
        for key in content.common_keys():
            script = content.script(key) or ""
            digest.update(script.encode())
            _write(out / f"data/{key}.js", script)
        for name in ASSETS:
            digest.update(asset(name))
            _write(out / f"assets/{name}", asset(name))
        (out / "index.html").write_text(front_html(digest.hexdigest()[:12]), encoding="utf-8")
    except OSError as error:
        raise UserError(f"site {out} cannot be written ({error.strerror}); give another --out") from error
    return out / "index.html"


def _clear(out: Path) -> None:
    """Remove an earlier site, and nothing else."""
    out.mkdir(parents=True, exist_ok=True)
    there = {entry.name for entry in out.iterdir()}
    if there and _MARK not in there:
        raise UserError(f"{out} holds {min(there)} and is not a site; give another --out")
    for name in _OURS:
        if name == _MARK:
            continue
        if (out / name).is_dir():
            shutil.rmtree(out / name)
        else:
            (out / name).unlink(missing_ok=True)
    (out / _MARK).write_text("Written by cheaptalk site, which replaces what it wrote.\n", encoding="utf-8")


def _write_games(content: Content, out: Path, traces: bool, progress: Progress | None) -> None:
    games = [(run, number) for run in content.runs.values() for number in run.numbers]
    for done, (run, number) in enumerate(games, start=1):
        made = content.game(run, number)
        source = run.trace(number)
        if made is None or source is None:  # removed since the run was read
            continue
        _write(out / f"data/run/{run.id}/game/{number}.js", made.page)
        _write(out / f"data/run/{run.id}/texts/{number}.js", made.texts)
        if traces:
            target = out / f"traces/{run.id}/{number}.json"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        if progress is not None:
            progress(Tally(done, len(games), 0))


def _write(path: Path, content: str | bytes) -> None:
    try:
        file = path.open("wb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("wb")
    with file:
        file.write(content.encode() if isinstance(content, str) else content)
