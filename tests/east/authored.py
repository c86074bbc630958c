"""Games whose reasoning, and whose labels, we wrote ourselves: they test the plumbing, not any model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framework import Action, Strategy, write_trace
from games.east import CONDITIONS, PAPER, Choose, EastObservation, Scenario
from games.east.annotation.labels import GROUPS
from tests.east.playing import play_one


class Thinks(Strategy[EastObservation]):
    """Says a word and leaves the reasoning that it is given."""

    def __init__(self, word: str, reasoning: str = "") -> None:
        super().__init__()
        self._word, self._reasoning = word, reasoning

    async def act(self, observation: EastObservation) -> Sequence[Action]:
        self.record.thinking = self._reasoning
        return (Choose(chosen_word=self._word),)


@dataclass(frozen=True)
class Thought:
    """A seat's word and reasoning, and the labels that we expect of it."""

    word: str
    reasoning: str
    level: int
    target: str = "N/A"
    coherent: str = "N/A"
    fallacies: tuple[str, ...] = ()

    @property
    def tom(self) -> dict[str, Any]:
        """The labels as an annotator writes them."""
        return {
            "highest_level_achieved": self.level,
            "rationale": "authored",
            "recursive_target": self.target,
            "information_coherence": self.coherent,
            "information_coherence_rationale": "authored",
        }

    @property
    def errors(self) -> dict[str, Any]:
        """The fallacies as an annotator writes them."""
        return {
            group: {name: {"error_present": name in self.fallacies, "rationale": "authored"} for name in names}
            for group, names in GROUPS.items()
        }


@dataclass(frozen=True)
class Authored:
    """A game."""

    scenario: Scenario
    thoughts: tuple[Thought, Thought]


def _symmetric() -> Authored:
    return Authored(
        CONDITIONS[0].scenario(PAPER[1], "strategic_tom"),
        (
            Thought(
                "drill",
                "The dentist knows that I build houses and expects me to look for what our trades share: the drill.",
                2,
                "behavior",
                "TRUE",
            ),
            Thought("drill", "Drills are used on building sites and in dental practices alike.", -1),
        ),
    )


def _asymmetric() -> Authored:
    return Authored(
        CONDITIONS[1].scenario(PAPER[3], "standard_cot"),
        (
            Thought(
                "flour",
                "The ceramist can see that I am a baker, so flour it is.",
                1,
                coherent="FALSE",
                fallacies=("misrepresenting_other_epistemic_state", "egocentric_projection"),
            ),
            Thought("clay", "They know my trade. They will come to me, so I stay with clay.", 1, coherent="TRUE"),
        ),
    )


def _zero_knowledge() -> Authored:
    return Authored(
        CONDITIONS[2].scenario(PAPER[9], "strategic_tom"),
        (
            Thought(
                "sonata",
                "As a pianist I find sonata the most original word here.",
                -1,
                fallacies=("violating_goal_or_hallucinating_constraints", "egocentric_projection"),
            ),
            Thought(
                "umbrella",
                "Nobody knows anybody. They will think of what anyone would take: the umbrella.",
                1,
                coherent="TRUE",
            ),
        ),
    )


GAMES = (_symmetric(), _asymmetric(), _zero_knowledge())


def write_run(folder: Path) -> Path:
    """The three games, and a fourth one without reasoning, as a run's folder."""
    (folder / "traces").mkdir(parents=True)
    silent = Authored(CONDITIONS[0].scenario(PAPER[0], "direct"), (Thought("fabric", "", 0), Thought("fabric", "", 0)))
    for number, game in enumerate((*GAMES, silent)):
        one, two = (Thinks(thought.word, thought.reasoning) for thought in game.thoughts)
        trace = play_one(game.scenario, one, two).model_copy(update={"game_id": f"game-{number}"})
        write_trace(folder / "traces" / f"{number:05}.json", trace)
    return folder


def replies() -> list[str]:
    """What a perfect annotator answers, in the order in which it is asked."""
    said = []
    for game in GAMES:
        matched = game.thoughts[0].word == game.thoughts[1].word
        for thought in game.thoughts:
            said.append(json.dumps(thought.tom))
            if not matched:
                said.append(json.dumps(thought.errors))
    return said
