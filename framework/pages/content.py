"""Every file of the pages by its key: the site writes them all, the server makes each when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

from framework.messages import Frozen
from framework.pages.data import script_of
from framework.pages.run_page import Board, Front
from framework.pages.runs import Run, boards
from framework.specs import short_names

__all__ = ["ASSETS", "Content", "asset", "front_html"]

_JOINED = {
    "pages.js": (
        "core.js",
        "icons.js",
        "ui.js",
        "table.js",
        "charts.js",
        "runs.js",
        "board.js",
        "messages.js",
        "run.js",
        "said.js",
        "timeline.js",
        "grid.js",
        "beliefs.js",
        "panels.js",
        "find.js",
        "game.js",
        "app.js",
    ),
    "pages.css": ("base.css", "lists.css", "figures.css", "game.css", "panels.css", "stepper.css"),
}
"""What each file that a page loads is joined from, so that a page asks for few files."""
ASSETS = ("pages.js", "pages.css", "theme.js", "icon.svg")
"""The files that every page is made of."""

_GAME_KEY = re.compile(r"run/(?P<run>[^/]+)/(?P<what>game|texts)/(?P<number>\d{1,9})")
_RUN_KEY = re.compile(r"run/(?P<run>[^/]+?)(?:/(?P<part>board|messages))?")


class Boards(Frozen):
    """The leaderboard: one table for each game."""

    boards: tuple[Board, ...]


def asset(name: str) -> bytes:
    """A file that every page loads."""
    return b"".join(_packaged(part) for part in _JOINED.get(name, (name,)))


def _packaged(name: str) -> bytes:
    return files("framework.pages").joinpath("assets", name).read_bytes()


def front_html(build: str) -> str:
    """The one page, which loads everything else.

    Args:
        build: Changes with the data, so that a browser does not show an old copy.
    """
    return _packaged("index.html").decode().replace("BUILD", build)


class GameFiles(NamedTuple):
    """The two data files of a game."""

    page: str
    texts: str


class Content:
    """The data files of some runs.

    Args:
        runs: The runs.
        title: Title of the site.
        prompts: Whether prompts, reasoning and other long texts are shown.
        traces: Whether traces can be downloaded.
    """

    def __init__(self, runs: Sequence[Run], *, title: str = "", prompts: bool = True, traces: bool = False) -> None:
        self.runs = {run.id: run for run in runs}
        self._title = title
        self._prompts = prompts
        self._traces = traces

    def front(self) -> str:
        """The list of runs."""
        summaries = tuple(run.summary() for run in self.runs.values())
        names = short_names(name for summary in summaries for name in summary.strategies)
        return script_of("front", Front(title=self._title, runs=summaries, traces=self._traces, names=names))

    def board(self) -> str:
        """The leaderboard."""
        return script_of("board", Boards(boards=boards(tuple(self.runs.values()))))

    def game(self, run: Run, number: int) -> GameFiles | None:
        """A game's page and its long texts; None if there is no such game."""
        pages = run.game_pages(number)
        if pages is None:
            return None
        where = f"run/{run.id}"
        return GameFiles(
            script_of(f"{where}/game/{number}", pages.page),
            script_of(f"{where}/texts/{number}", dict(pages.texts) if self._prompts else {}),
        )

    def script(self, key: str) -> str | None:
        """The data file of a key; None if there is none."""
        if key == "front":
            return self.front()
        if key == "board":
            return self.board()
        if found := _GAME_KEY.fullmatch(key):
            run = self.runs.get(found["run"])
            made = self.game(run, int(found["number"])) if run else None
            return made and (made.page if found["what"] == "game" else made.texts)
        if found := _RUN_KEY.fullmatch(key):
            run = self.runs.get(found["run"])
            if run is not None:
                return script_of(key, {"board": run.board, "messages": run.messages}.get(found["part"], run.page)())
        return None

    def common_keys(self) -> Iterator[str]:
        """The keys of all files but those of games."""
        yield from ("front", "board")
        for id in self.runs:
            yield from (f"run/{id}", f"run/{id}/board", f"run/{id}/messages")
