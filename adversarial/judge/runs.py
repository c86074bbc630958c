"""The runs that are judged: which cases they hold, which of them are judged, and where that is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adversarial.judge.cases import CaseKey
from adversarial.judge.journal import Entry, Journal
from adversarial.judge.judging import Task
from adversarial.judge.measured import JudgedGame, game_with_states, reader_of
from adversarial.judge.results import Judged
from framework.analysis import Seen, gather_runs
from framework.analysis.report import game_of
from framework.errors import UserError
from framework.tables import run_names

__all__ = ["Bench"]


@dataclass(frozen=True)
class Bench:
    """The finished games of some runs, and a journal for each run.

    Attributes:
        games: The games.
        journals: The journal of each run, by its name.
        folder: Where the judge's CSVs of the first run belong.
        judge: Name of the judge.
        prompts: SHA-256 of its prompt's templates.
    """

    games: Sequence[Seen[JudgedGame]]
    journals: Mapping[str, Journal]
    folder: Path
    judge: str
    prompts: str

    @classmethod
    def of(cls, runs: Sequence[Path], judge: str, prompts: str, most: int | None = None) -> Bench:
        """The bench of some runs.

        Args:
            runs: Folders of runs of one game.
            judge: Name of the judge.
            prompts: SHA-256 of its prompt's templates.
            most: How many games of each run to judge; None for all.

        Raises:
            UserError: If a run cannot be read, its game declares no private states, or no game is finished.
        """
        read = reader_of(game_with_states(game_of(runs[0])))
        finished = [seen for seen in gather_runs(runs, [read]).seen(read) if seen.result.abort is None]
        if not finished:
            raise UserError(f"{runs[0]} holds no finished game to judge; go on with: cheaptalk run {runs[0]} --resume")
        by_run: dict[str, list[Seen[JudgedGame]]] = {}
        for seen in finished:
            by_run.setdefault(seen.run, []).append(seen)
        games = [seen for own in by_run.values() for seen in own[:most]]
        slug = re.sub(r"[^A-Za-z0-9._=-]+", "-", judge).strip("-.") or "judge"
        journals = {name: Journal(folder / "judge" / f"{slug}.jsonl") for folder, name in run_names(runs).items()}
        return cls(games, journals, runs[0] / "judge" / slug, judge, prompts)

    @property
    def cases(self) -> int:
        """Number of cases."""
        return sum(len(seen.facts.cases) for seen in self.games)

    def _entries(self) -> dict[str, dict[CaseKey, Entry]]:
        return {name: journal.read(self.judge, self.prompts) for name, journal in self.journals.items()}

    def tasks(self) -> list[Task]:
        """The cases that were not judged yet, or whose answer could not be read."""
        done = self._entries()
        return [
            Task(self.journals[seen.run], case, seen.facts.states)
            for seen in self.games
            for case in seen.facts.cases
            if (entry := done[seen.run].get(case.key)) is None or entry.error
        ]

    def judged(self) -> list[Judged]:
        """The games with what the judge has said of them so far."""
        done = self._entries()
        judged = []
        for seen in self.games:
            own = done[seen.run]
            entries = {case.key: own[case.key] for case in seen.facts.cases if case.key in own}
            judged.append(Judged(seen, seen.facts, entries))
        return judged
