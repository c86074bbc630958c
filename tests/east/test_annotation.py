from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path

import pytest
from autogen_ext.models.replay import ReplayChatCompletionClient
from pydantic import ValidationError

from framework import read_trace
from framework.errors import UserError
from games.east.annotation.analysis import annotators_of, cooccurrence, fallacy_shares, read_labels, reasoning_shares
from games.east.annotation.annotate import Done, annotate, pending
from games.east.annotation.csvs import write_labels
from games.east.annotation.figures import draw_labels
from games.east.annotation.labels import FALLACIES, GROUPS, Fallacies, TomLabels
from games.east.annotation.prompts import SCHEMAS, AnnotationPrompts
from games.east.annotation.sidecar import AnnotationFailed, FallaciesLabelled, Sidecar, TomLabelled
from games.east.annotation.task import reasonings
from protocols.asker import ClientAsker
from tests.east.authored import GAMES, replies, write_run

KINDS = ("tom", "fallacies")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def sitting(run: Path, said: list[str], name: str = "judge", *, every_game: bool = False) -> Done:
    """One call of the command, by a client that says what it is told to say."""
    done = Done()
    tasks = pending([run], name, KINDS, done, every_game=every_game)
    asyncio.run(annotate(tasks, ClientAsker(ReplayChatCompletionClient(said), name), done))
    return done


def sidecars(run: Path) -> list[Sidecar]:
    return [Sidecar(path) for path in sorted((run / "traces").glob("*.json"))]


def test_there_are_eleven_fallacies_in_groups_of_four_four_and_three() -> None:
    assert [len(names) for names in GROUPS.values()] == [4, 4, 3]
    assert len(set(FALLACIES)) == 11


def test_labels_come_back_as_they_were_given(run: Path) -> None:
    done = sitting(run, replies())
    assert dict(done.counts) == {"tom": 6, "fallacies": 4, "without reasoning": 2}
    for sidecar, game in zip(sidecars(run), GAMES, strict=False):
        for event in sidecar.read():
            thought = game.thoughts[event.seat]
            if isinstance(event, TomLabelled):
                assert event.labels == TomLabels.model_validate(thought.tom)
            if isinstance(event, FallaciesLabelled):
                assert event.labels.present == set(thought.fallacies)


def test_a_second_sitting_has_nothing_left_to_do(run: Path) -> None:
    sitting(run, replies())
    before = [sidecar.path.read_bytes() for sidecar in sidecars(run)[:3]]
    done = sitting(run, [])
    assert dict(done.counts) == {"made before": 10, "without reasoning": 2}
    assert [sidecar.path.read_bytes() for sidecar in sidecars(run)[:3]] == before


def test_a_sitting_that_broke_off_is_gone_on_with(run: Path) -> None:
    said = replies()
    with pytest.raises(ExceptionGroup):
        sitting(run, said[:3])
    done = sitting(run, said[3:])
    assert done.counts["made before"] == 3
    assert sum(len(s.read()) for s in sidecars(run)) == 10


def test_a_torn_line_is_skipped_and_does_not_spoil_the_next(run: Path) -> None:
    sidecar = sidecars(run)[0]
    sidecar.path.write_text('{"type": "tom_labelled", "game_id": "game-0", "se')
    sitting(run, replies())
    assert len(sidecar.read()) == 2


def test_traces_are_never_touched(run: Path) -> None:
    before = {path: path.read_bytes() for path in (run / "traces").glob("*.json")}
    sitting(run, replies())
    assert {path: path.read_bytes() for path in (run / "traces").glob("*.json")} == before


def test_an_answer_that_does_not_fit_is_asked_for_once_more(run: Path) -> None:
    said = replies()
    done = sitting(run, ["Level 2, I would say.", *said])
    assert done.errors == []
    event = sidecars(run)[0].read()[0]
    assert event.usage is not None
    assert event.usage.calls == 2


def test_a_second_unfit_answer_is_recorded_and_tried_again_in_the_next_sitting(run: Path) -> None:
    said = replies()
    done = sitting(run, ["no", '{"highest_level_achieved": 7}', *said[1:]])
    (error,) = done.errors
    assert error.startswith("game game-0 seat 0: tom: Input should be -1, 0, 1 or 2 at highest_level_achieved")
    failed = sidecars(run)[0].read()[0]
    assert isinstance(failed, AnnotationFailed)
    assert failed.reply == '{"highest_level_achieved": 7}'
    assert sitting(run, said[:1]).counts["tom"] == 1


def test_answers_may_stand_in_code_blocks_and_amid_prose(run: Path) -> None:
    assert sitting(run, [f"Here {{}} you are:\n```json\n{reply}\n```\nDone." for reply in replies()]).errors == []


def test_fallacies_are_looked_for_without_a_match_only_unless_every_game_is_wanted(run: Path) -> None:
    kinds = [(task.kind, task.reasoning.game_id) for task in pending([run], "judge", KINDS, Done())]
    assert ("fallacies", "game-0") not in kinds
    assert len(kinds) == 10
    assert len(pending([run], "judge", KINDS, Done(), every_game=True)) == 12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recursive_target": "N/A"}, "recursive_target must be behavior or mental_state at level 2"),
        ({"highest_level_achieved": 0}, "recursive_target must be"),
        ({"information_coherence": "N/A"}, "information_coherence must be TRUE or FALSE"),
        ({"highest_level_achieved": 3}, "highest_level_achieved"),
    ],
)
def test_labels_that_contradict_themselves_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TomLabels.model_validate({**GAMES[0].thoughts[0].tom, **change})


def test_truth_values_are_taken_for_their_spelling() -> None:
    labels = TomLabels.model_validate({**GAMES[0].thoughts[0].tom, "information_coherence": False})
    assert labels.information_coherence == "FALSE"


def test_both_names_of_the_egocentric_fallacy_are_accepted() -> None:
    data = GAMES[1].thoughts[0].errors
    data["strategic_execution"]["egocentric_salience_projection"] = data["strategic_execution"].pop(
        "egocentric_projection"
    )
    labels = Fallacies.model_validate(data)
    assert "egocentric_projection" in labels.present
    assert "egocentric_projection" in json.loads(labels.model_dump_json())["strategic_execution"]


def test_an_annotator_is_told_the_metadata_the_prompt_and_the_reasoning(run: Path) -> None:
    trace = read_trace(sorted((run / "traces").glob("*.json"))[1])
    seat_0, seat_1 = reasonings(trace)
    pack = AnnotationPrompts()
    for kind in SCHEMAS:
        text = pack.prompt(kind, seat_0)
        for part in (
            "Epistemic Condition: Asymmetric",
            "Prompting Strategy: Standard CoT",
            "Player Role: P1",
            "Agent Persona: professional baker",
            "Available Words: flour (P1), clay (P2), knead (Shared), umbrella (Unrelated)",
            "Chosen Word: flour (Persona 1)",
            "You are a professional baker.",
            "The ceramist can see that I am a baker",
        ):
            assert part in text
    assert "Player Role: P2" in pack.prompt("tom", seat_1)
    fields = pack.prompt("fallacies", seat_0)
    assert all(name in fields for name in FALLACIES)
    assert all(name in pack.prompt("tom", seat_0) for name in TomLabels.model_fields)


def test_reasoning_is_shared_out_over_normative_matches(run: Path) -> None:
    sitting(run, replies())
    rows = {(r.strategy, r.condition): r for r in reasoning_shares(read_labels([run])) if r.prompt == "strategic_tom"}
    one, two = rows["one", "symmetric"], rows["two", "symmetric"]
    assert (one.n, one.levels[2], one.with_tom, one.incoherent) == (1, 1, 1, 0)
    assert (two.n, two.levels[-1], two.with_tom) == (1, 1, 0)
    assert rows["one", "zero_knowledge"].n == 0


def test_fallacies_are_counted_over_games_without_coordination(run: Path) -> None:
    sitting(run, replies())
    labelling = read_labels([run])
    rows = {(r.condition, r.fallacy): (r.count, r.n) for r in fallacy_shares(labelling)}
    assert rows["asymmetric", "egocentric_projection"] == (1, 2)
    assert rows["zero_knowledge", "violating_goal_or_hallucinating_constraints"] == (1, 2)
    assert rows["symmetric", "egocentric_projection"] == (0, 0)
    together = cooccurrence(labelling)
    ego, other = FALLACIES.index("egocentric_projection"), FALLACIES.index("misrepresenting_other_epistemic_state")
    assert (together[ego, ego], together[ego, other], together[other, ego]) == (2, 1, 1)
    assert together.sum() == 4 + 2 * 2


def test_annotators_are_kept_apart(run: Path) -> None:
    sitting(run, replies(), "one")
    sitting(run, replies(), "two")
    labelling = read_labels([run])
    assert sorted(annotators_of(labelling)) == ["one", "two"]
    assert {judged.annotator for judged in labelling.by("two").judged} == {"two"}
    assert len(labelling.judged) == 12


def test_labels_are_written_as_csvs_and_figures(run: Path, tmp_path: Path) -> None:
    sitting(run, replies())
    labelling = read_labels([run])
    write_labels(tmp_path, labelling)
    with (tmp_path / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["level"] for row in rows] == ["2", "-1", "1", "1", "-1", "1"]
    assert rows[2]["egocentric_projection"] == "1"
    assert rows[0]["egocentric_projection"] == ""
    names = {path.name for path in draw_labels(tmp_path, labelling)}
    assert names == {f"{n}.{kind}" for n in ("reasoning", "fallacies", "cooccurrence") for kind in ("svg", "png")}


def test_prompts_of_ones_own_need_both_templates(tmp_path: Path) -> None:
    (tmp_path / "tom.j2").write_text("")
    with pytest.raises(UserError, match=r"there is no fallacies.j2"):
        AnnotationPrompts(tmp_path)
