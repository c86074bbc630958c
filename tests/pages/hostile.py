"""A game whose every text tries to become markup or script, played by strategies that send the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import JsonValue

from framework.game import Metric, Phase
from framework.messages import Action, Batch, Conflict, Round, Send
from framework.pages import Card, Cell, CellChange, CellKind, Fact, Grid, Label, PageModel, Sheet, Tally, TallyChange
from framework.strategy import Params
from framework.trace import MetricValue, SeatEvent, Trace
from tests.core.toy import DIGITS, Pick, Proposer, Repaint, Toy, ToyObservation, ToyRoundOver, ToyScenario, ToyState

RUN = "window.pwned=1"
POISONS: tuple[str, ...] = (
    f'<img src="x" onerror="{RUN}">',
    f"</script><script>{RUN}</script>",
    f"';{RUN};//",
    f'";{RUN};//',
    f"\\';{RUN};//",
    f"\u2028{RUN}\u2029",
    f"\n{RUN}\n",
    f"${{{RUN}}}`{RUN}`",
    f'<svg onload="{RUN}"><style>@import "x"</style></svg>',
    f'"><iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    f"javascript:{RUN}",
    "<!--<script>",
    "]]>&lt;&amp;&#60;",
)
POISON = " ".join(POISONS)
ONE_LINE = POISON.replace("\n", " ")


def lines(prefix: str) -> str:
    """The poison as a value that begins with what is needed to tell it apart."""
    return f"{prefix} {POISON}"


class Bite(SeatEvent):
    """What a hostile strategy records of itself."""

    type: Literal["bite"] = "bite"
    round: int
    purpose: str
    reply: str
    fields: dict[str, JsonValue] = {}


class VenomParams(Params):
    """Parameters end up in labels and configs."""

    poison: str = ""


def refuse_all(state: ToyState, seat: int, batch: Batch) -> Conflict | None:
    """Rejects the first batches of everybody, with poison in every field."""
    if any(isinstance(action, Repaint) for action in batch):
        return Conflict(
            rule=lines("rule"), message=lines("conflict"), data={lines("key"): lines("value"), "__proto__": 1}
        )
    return None


def poisoned(trace: Trace) -> MetricValue:
    """A number; the poison is in the metric's names."""
    return MetricValue(game=0.5, seats=(0.5,) * trace.start.seats)


class Hostile(Toy):
    """The toy game with poison in everything that it says."""

    name = "hostile"
    title = lines("title")
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(name=lines("metric"), title=lines("heading"), better="higher", compute=poisoned),
    )

    def suite(self, name: str, seed: int) -> Sequence[ToyScenario]:
        return [s.model_copy(update={"id": lines(f"task{n}")}) for n, s in enumerate(super().suite(name, seed))]

    def group(self, scenario: ToyScenario) -> str:
        return lines("group")

    def rounds(self, scenario: ToyScenario) -> Sequence[Round]:
        return [round.model_copy(update={"label": lines("label")}) for round in super().rounds(scenario)]

    def phases(self) -> Sequence[Phase[ToyState]]:
        talk, pick = super().phases()
        bitten = Phase[ToyState](
            name=ONE_LINE,
            actions=pick.actions,
            retries=1,
            validators=(refuse_all, *pick.validators),
            settle=pick.settle,
        )
        return [talk, bitten]

    def facts(self, scenario: ToyScenario) -> dict[str, JsonValue]:
        return {lines("fact"): lines("value"), "__proto__": lines("proto")}

    def view(self, state: ToyState, seat: int) -> str:
        return lines("view")

    def page(self, trace: Trace, path: Path | None = None) -> PageModel:
        over = [place for place, event in enumerate(trace.events) if isinstance(event, ToyRoundOver)]
        cell = Cell(kind=lines("kind"), text=lines("cell"), title=lines("words"), key=lines("key"))
        seats = range(trace.start.seats)
        grid = Grid(
            title=lines("grid"),
            rows=tuple(lines(f"row{seat}") for seat in seats),
            seats=tuple(seats),
            columns=tuple(lines(f"column{digit}") for digit in range(DIGITS)),
            row_title=lines("rows"),
            column_title=lines("columns"),
            kinds=(CellKind(name=lines("kind"), title=lines("kind title")),),
            cells=tuple((cell,) * DIGITS for _ in seats),
            changes=tuple(CellChange(event=event, row=0, column=0, cell=cell) for event in over),
            tallies=(
                Tally(
                    title=lines("tally"),
                    values=(lines("count"),) * len(seats),
                    changes=tuple(TallyChange(event=event, row=0, value=lines("more")) for event in over),
                ),
            ),
        )
        facts = (
            Fact(label=lines("fact label"), value=lines("fact value")),
            Fact(label="long", value=POISON, long=True),
        )
        return PageModel(
            grids=(grid,),
            cards=(Card(title=lines("card"), seat=0, facts=facts), Card(title=lines("other card"), facts=facts)),
            sheets=(Sheet(title=lines("sheet"), columns=(lines("head"),), rows=((lines("entry"),),)),),
            labels=tuple(Label(event=event, text=lines("outcome"), tone="good", headline=True) for event in over),
            private_grid=0,
        )


class Venom(Proposer):
    """Poison in every message, prompt, reasoning, record and note."""

    params_type = VenomParams
    adversarial = True

    @property
    def system_prompt(self) -> str:
        return lines("system")

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        self.record.prompt = lines("prompt")
        self.record.thinking = lines("thinking")
        fields: dict[str, JsonValue] = {"__proto__": {"polluted": True}, lines("field"): lines("value")}
        self.record.events.append(
            Bite(round=observation.round.index, purpose=POISON, reply=lines("reply"), fields=fields)
        )
        self.note(observation, lines("note"), poison=lines("noted"))
        if observation.phase != "talk":
            return [Repaint(colour="green"), Pick(digit=3)]
        if observation.turn.sweep:
            return []
        typed = '{"kind": "typed", "__proto__": {"polluted": true}, "constructor": "<b>"}'
        nowhere = Send(channel=lines("channel"), content=POISON)
        said = [Send(channel="all_agent_groupchat", content=text) for text in (*POISONS, lines("message"), typed)]
        return [*said, nowhere]

    async def retry(self, observation: ToyObservation, conflict: Conflict) -> Sequence[Action] | None:
        return [Pick(digit=self._lowest(observation))]


class Spitting(Venom):
    """Raises, with poison in the error."""

    async def act(self, observation: ToyObservation) -> Sequence[Action]:
        if observation.round.index:
            raise RuntimeError(lines("error"))
        return await super().act(observation)
