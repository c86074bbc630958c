"""What the games that ship show of themselves, against their traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from framework.beliefs import belief_history
from framework.pages.beliefs import BeliefPage, reflected_beliefs
from framework.pages.game_page import GamePage
from framework.pages.model import Cell, Grid, PageModel
from framework.pages.runs import Run, open_runs
from framework.reflection import Reflection, movement
from framework.trace import GameStart, RoundStart, Trace, read_trace
from games.calbench.calendars import Errand, MeetingItem, Slot
from games.calbench.game import CalBench
from games.calbench.history import calendars_by_round
from games.east.annotation.labels import TomLabels
from games.east.annotation.sidecar import Sidecar, TomLabelled
from tests.pages.runs import play


@pytest.fixture(scope="module")
def calbench(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Games in which meetings move and some stay unresolved."""
    out = tmp_path_factory.mktemp("calbench") / "run"
    return open_runs([play(out, game="calbench", strategy="sd-map", seats={0: "imap"}, rotate=True)])[0]


def page_of(run: Run, number: int) -> GamePage:
    pages = run.game_pages(number)
    assert pages is not None
    return pages.page


def trace_of(run: Run, number: int) -> Trace:
    path = run.trace(number)
    assert path is not None
    return read_trace(path)


def cells_after(grid: Grid, event: int) -> list[list[Cell]]:
    """The grid as a reader sees it after an event."""
    cells = [list(row) for row in grid.cells]
    for change in grid.changes:
        if change.event <= event:
            cells[change.row][change.column] = change.cell
    return cells


def keys(slots: Sequence[Slot]) -> list[str]:
    """What identifies the content of each slot."""
    found = []
    for item in slots:
        match item:
            case None:
                found.append("")
            case Errand():
                found.append(f"e{item.errand_id}")
            case MeetingItem():
                found.append(f"m{item.meeting_id}")
    return found


def test_calendars_are_those_of_the_game_at_the_start_of_each_round_and_at_the_end(calbench: Run) -> None:
    for number in calbench.numbers:
        trace, grid = trace_of(calbench, number), page_of(calbench, number).model.grids[0]
        starts = [place for place, event in enumerate(trace.events) if isinstance(event, RoundStart)]
        for place, calendars in zip((*starts, len(trace.events)), calendars_by_round(trace), strict=True):
            shown = [[cell.key for cell in row] for row in cells_after(grid, place)]
            assert shown == [keys(calendar.slots) for calendar in calendars]


def test_what_each_seat_has_paid_ends_at_its_cost(calbench: Run) -> None:
    for number in calbench.numbers:
        tally = page_of(calbench, number).model.grids[0].tallies[0]
        paid = list(tally.values)
        for change in tally.changes:
            paid[change.row] = change.value
        assert [int(value) for value in paid] == trace_of(calbench, number).final_state["cost_by_seat"]


def test_every_round_says_how_its_meeting_came_out(calbench: Run) -> None:
    page = page_of(calbench, 0)
    headlines = [label.text for label in page.model.labels if label.headline]
    assert len(headlines) >= len(page.play.rounds)
    assert all(text.startswith("meeting ") for text in headlines)


def test_a_private_label_is_shown_with_its_tier_where_the_bank_is_the_same(calbench: Run) -> None:
    page = page_of(calbench, 0)
    titles = [cell.title for row in page.model.grids[0].cells for cell in row if cell.kind.startswith("level")]
    assert all(title.endswith(("(public)", "(sensitive)", "(very sensitive)")) for title in titles)


def test_private_labels_are_left_out_where_the_trace_had_another_bank(calbench: Run) -> None:
    trace = trace_of(calbench, 0)
    facts = {**trace.start.facts, "labels": {"hash": "another"}}
    start = trace.start.model_copy(update={"facts": facts})
    other = Trace(
        game_id="x",
        events=(start, *trace.events[1:]),
        started_at=trace.started_at,
        ended_at=trace.ended_at,
    )
    model = CalBench().page(other)
    assert not any('"' in cell.title for row in model.grids[0].cells for cell in row)


def rebuilt(page: BeliefPage, observer: int, target: int, round: int) -> np.ndarray:
    """The belief of a pair at the end of a round, as the browser rebuilds it."""
    belief = np.full(page.slots, page.prior)
    for r, o, t, slot, after in zip(page.round, page.observer, page.target, page.slot, page.after, strict=True):
        if (r, o, t) == (round, observer, target):
            belief[slot] = after
    return belief


def test_beliefs_rebuilt_from_the_page_are_those_of_the_measure(calbench: Run) -> None:
    page, trace = page_of(calbench, 1), trace_of(calbench, 1)
    typed = page.beliefs[0]
    table = CalBench.evidence
    assert table is not None
    ends = [place for place, event in enumerate(trace.events) if isinstance(event, RoundStart)][1:]
    moved = set(zip(typed.observer, typed.target, strict=True))
    assert moved
    for observer, target in sorted(moved):
        history = belief_history(trace, observer, target, table=table)
        for round, end in enumerate((*ends, len(trace.events))):
            np.testing.assert_allclose(rebuilt(typed, observer, target, round), history.at(end - 1), atol=1e-6)


def test_the_vps_of_the_page_is_that_of_the_metric(calbench: Run) -> None:
    page = page_of(calbench, 1)
    typed = page.beliefs[0]
    seats = range(len(page.play.seats))
    total = [
        sum(
            float(np.abs(rebuilt(typed, observer, target, round.index) - typed.prior).sum())
            for observer in seats
            for round in page.play.rounds
        )
        for target in seats
    ]
    metric = next(metric for metric in page.metrics if metric.name == "vps_total")
    np.testing.assert_allclose(total, np.array(metric.seats, dtype=float), atol=1e-4)


def test_a_reported_change_counts_on_the_page_as_much_as_in_the_measure(calbench: Run) -> None:
    trace = trace_of(calbench, 0)
    deltas = (3, -2, 0, 1)
    said = Reflection(seat=1, round=0, target=0, deltas=deltas)
    start = next(trace.of(GameStart))
    page = reflected_beliefs(
        Trace(game_id="x", events=(start, said), started_at=trace.started_at, ended_at=trace.ended_at)
    )
    assert page is not None
    belief = rebuilt(page, 1, 0, 0)
    assert page.unit * float(np.abs(belief - page.prior).sum()) == pytest.approx(movement(deltas, [False] * 4).raw)
    assert belief[0] == 0.0 and belief[1] > page.prior  # noqa: PT018 - a change of +3 means surely occupied


def test_a_game_in_which_nobody_was_asked_has_no_reflections(calbench: Run) -> None:
    assert reflected_beliefs(trace_of(calbench, 0)) is None


@pytest.fixture(scope="module")
def east(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("east") / "run"
    return open_runs([play(out, game="east", suite="quick", strategy="normative")])[0]


def model_of(run: Run, condition: str) -> PageModel:
    number = next(n for n in run.numbers if condition in page_of(run, n).task)
    return page_of(run, number).model


def test_east_shows_what_each_seat_was_told_and_what_it_chose(east: Run) -> None:
    model = model_of(east, "asymmetric")
    one, two = ({fact.label: fact for fact in card.facts} for card in model.cards)
    assert one["told of the partner"].value == two["persona"].value
    assert two["told of the partner"].value == "nothing"
    assert one["chose"].value.endswith("(persona 2)")
    assert one["chose"].event > 0


def test_east_says_whether_the_seats_met_on_the_target(east: Run) -> None:
    (label,) = model_of(east, "zero_knowledge").labels
    assert label.tone == "good"
    assert label.text.endswith("the target")
    assert sum(row[2] == "target" for row in model_of(east, "symmetric").sheets[0].rows) == 1


def test_east_shows_the_annotations_beside_a_trace_once_the_game_is_over(tmp_path: Path) -> None:
    run = open_runs([play(tmp_path / "run", game="east", suite="quick", strategy="normative", limit=1)])[0]
    path = run.trace(0)
    assert path is not None
    game_id = trace_of(run, 0).game_id
    labels = TomLabels(
        highest_level_achieved=1,
        rationale="It asks what the other would pick.",
        recursive_target="N/A",
        information_coherence="FALSE",
        information_coherence_rationale="It was never told that.",
    )
    Sidecar(path).append(TomLabelled(game_id=game_id, seat=1, annotator="a model", labels=labels))
    one, two = page_of(run, 0).model.cards
    facts = {fact.label: fact for fact in two.facts}
    assert facts["ToM level, by a model"].value == "1 (about the other)"
    assert facts["ToM level, by a model"].event == len(trace_of(run, 0).events) - 1
    assert facts["incoherent"].value == "It was never told that."
    assert not any("ToM" in fact.label for fact in one.facts)


def test_a_page_without_its_game_still_has_every_step(calbench: Run, tmp_path: Path) -> None:
    folder = tmp_path / "alone"
    (folder / "traces").mkdir(parents=True)
    source = calbench.trace(0)
    assert source is not None
    text = source.read_text().replace('"game":"calbench"', '"game":"gone"')
    (folder / "traces" / source.name).write_text(text)
    page = page_of(open_runs([folder])[0], 0)
    assert len(page.play.steps) == len(page_of(calbench, 0).play.steps)
    assert page.model == PageModel()
    assert "'gone' is unknown" in page.notes[0]
