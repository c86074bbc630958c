"""Figures of runs: that each is drawn, states its n and intervals, and is the same each time."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from PIL import Image

from framework.analysis import gather_runs
from framework.analysis.plotting import bars, figure, finish, looks, save, wrapped
from framework.analysis.report import drawings_of
from framework.errors import UserError
from framework.experiment import Experiment, Reporting
from framework.runner import run
from framework.specs import StrategySpec
from framework.stats import Interval, bootstrap_mean, regression
from framework.tables import read_run
from games.calbench.analysis.figures import FAIRNESS, MESSAGES_COST, PRIVACY_COST
from tests.analysis.conftest import Cheaptalk
from tests.core.runs import PLAYERS, toy

NAMES = (
    "overview",
    "privacy-cost",
    "messages-cost",
    "fairness",
    "first-speaker",
    "talk-by-meeting",
    "talk-by-role",
    "prior-meetings",
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("runs")
    found = []
    for name in ("imap", "sd-map"):
        run(Experiment(game="calbench", suite="quick", strategy=StrategySpec.parse(name), out=str(root / name)))
        found.append(root / name)
    return found


def texts(made: Figure) -> list[str]:
    """Everything that is written in a figure."""
    from matplotlib.text import Text

    return [text.get_text() for text in made.findobj(Text) if isinstance(text, Text) and text.get_text()]


def test_every_figure_of_the_paper_is_drawn_as_svg_and_png(folders: list[Path], tmp_path: Path, cheaptalk: Cheaptalk):
    said = cheaptalk("plot", *folders, "--out", tmp_path)
    assert said.code == 0
    assert said.err == ""
    assert said.out.split() == [str(tmp_path / f"{name}.{form}") for name in NAMES for form in ("svg", "png")]
    for name in NAMES:
        with Image.open(tmp_path / f"{name}.png") as image:
            assert image.width > 600
            colours = image.convert("RGB").getcolors(maxcolors=10**6)
            assert colours is not None
            assert len(colours) > 50  # it is not an empty page


def test_the_same_runs_give_the_same_bytes(folders: list[Path], tmp_path: Path, cheaptalk: Cheaptalk):
    for out in ("one", "two"):
        cheaptalk("plot", *folders, "--figure", "fairness", "--figure", "messages-cost", "--out", tmp_path / out)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_states_its_n_and_its_intervals(folders: list[Path], name: str):
    (drawing,) = (each for each in drawings_of("calbench") if each.name == name)
    made = drawing.figure(gather_runs(folders, [drawing.read]).seen(drawing.read), Reporting(resamples=50))
    assert made is not None
    said = " ".join(texts(made))
    assert "n = " in said
    assert "95 % interval" in " ".join(said.split())
    assert "imap" in said
    assert "sd-map" in said


def test_series_differ_in_more_than_colour():
    styles = looks([f"s{number}" for number in range(16)])
    assert len({(look.colour, look.marker) for look in styles.values()}) == 16
    for part in ("marker", "hatch"):
        assert len({getattr(look, part) for look in list(styles.values())[:8]}) == 8
    assert len({look.line for look in list(styles.values())[:5]}) == 5


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_neighbours_are_apart_in_grey():
    shades = [luminance(look.colour) for look in looks([str(number) for number in range(4)]).values()]
    assert all(abs(one - two) > 0.1 for one, two in pairwise(shades))


def test_bars_are_as_long_as_their_means_and_whiskers_as_their_intervals():
    made = figure(1, 4, 3)
    (axes,) = made.axes
    bars(axes, ["one", "two"], {"x": [Interval(2.0, 1.5, 3.0), None], "y": [Interval(4.0, math.nan, math.nan), None]})
    assert [bar.get_width() for bar in axes.patches] == [2.0, 4.0]  # type: ignore[attr-defined]
    (whisker, *_) = (line for container in axes.collections for line in container.get_segments())  # type: ignore[attr-defined]
    assert sorted(point[0] for point in whisker) == [1.5, 3.0]
    assert axes.get_xlim()[1] > 4.0


def test_fairness_is_drawn_at_the_means_of_the_metric(folders: list[Path]):
    made = FAIRNESS.figure(gather_runs(folders, [FAIRNESS.read]).seen(FAIRNESS.read), Reporting())
    assert made is not None
    results = read_run(folders[0]).results
    values = [(r.game_id, v) for r in results if r.group == "uniform" for v in r.metrics["fairness"].seats]
    expected = bootstrap_mean([v or 0.0 for _, v in values], [game for game, _ in values])
    assert made.axes[0].patches[0].get_width() == pytest.approx(expected.mean)  # type: ignore[attr-defined]


def test_the_line_through_messages_and_cost_is_least_squares(folders: list[Path]):
    made = MESSAGES_COST.figure(gather_runs(folders, [MESSAGES_COST.read]).seen(MESSAGES_COST.read), Reporting())
    assert made is not None
    results = [result for result in read_run(folders[0]).results if result.group == "uniform"]
    x = [v or 0.0 for r in results for v in r.metrics["messages"].seats]
    y = [v or 0.0 for r in results for v in r.metrics["excess"].seats]
    line = regression(x, y)
    assert line is not None
    assert f"n = {len(x)}, b = {line.slope:.2f} [{line.low:.2f}, {line.high:.2f}]" in " ".join(texts(made))


def test_what_was_reflected_is_marked_in_the_privacy_plane(tmp_path: Path):
    strategy = StrategySpec(name="tests.analysis.players:Chatty", params={"reflect": True})
    run(Experiment(game="calbench", strategy=strategy, limit=2, out=str(tmp_path / "run")))
    games = gather_runs([tmp_path / "run"], [PRIVACY_COST.read]).seen(PRIVACY_COST.read)
    made = PRIVACY_COST.figure(games, Reporting())
    assert made is not None
    assert any("reflected)" in text for text in texts(made))


def test_any_game_has_an_overview_and_what_cannot_be_drawn_is_said(tmp_path: Path, cheaptalk: Cheaptalk):
    run(toy(tmp_path / "run"))
    said = cheaptalk("plot", tmp_path / "run", "--out", tmp_path / "figures", "--format", "svg")
    assert said.out.split() == [str(tmp_path / "figures" / "overview.svg")]
    run(toy(tmp_path / "gone", strategy=f"{PLAYERS}:Raising"))
    said = cheaptalk("plot", tmp_path / "gone", "--out", tmp_path / "none")
    assert (said.out, said.err) == ("", "cheaptalk: overview: these runs have nothing to draw\n")


def test_names_and_places_that_do_not_fit_are_said(folders: list[Path], tmp_path: Path, cheaptalk: Cheaptalk):
    assert "did you mean 'fairness'?" in cheaptalk("plot", folders[0], "--figure", "fairnes").err
    assert "'gif' is none of svg, png and pdf" in cheaptalk("plot", folders[0], "--format", "gif").err
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="figures cannot be written to"):
        save(finish(figure(1, 2, 2), "title", "note"), tmp_path / "file", "x")


def test_runs_that_share_a_strategy_are_told_apart(folders: list[Path], tmp_path: Path):
    run(
        Experiment(
            game="calbench", suite="quick", limit=2, strategy=StrategySpec.parse("imap"), out=str(tmp_path / "b")
        )
    )
    made = FAIRNESS.figure(gather_runs([folders[0], tmp_path / "b"], [FAIRNESS.read]).seen(FAIRNESS.read), Reporting())
    assert made is not None
    assert {"imap (imap)\nn = 15, 15", "imap (b)\nn = 10"} <= set(texts(made))


LONG = "llm:model=openai:a-model-of-a-long-name,temperature=0.25,base_url=http://127.0.0.1:8080/v1,reflect=true"


def test_a_long_label_is_broken_and_loses_nothing():
    lines = wrapped(f"{LONG} (run)\nn = 3").split("\n")
    assert max(map(len, lines)) <= 26
    assert "".join(lines).replace(" ", "") == f"{LONG}(run)n=3".replace(" ", "")
    assert wrapped("imap\nn = 225, 225") == "imap\nn = 225, 225"
    assert wrapped("x" * 60) == "\n".join(["x" * 26, "x" * 26, "x" * 8])


def test_a_long_name_leaves_room_for_its_bar():
    made = figure(1, 4.4, 2)
    (axes,) = made.axes
    bars(axes, [f"{LONG}\nn = 3"], {"x": [Interval(2.0, 1.5, 3.0)]})
    finish(made, "title", "note").draw_without_rendering()
    assert axes.get_position().width > 0.5


def test_bars_of_nothing_begin_at_the_left():
    made = figure(1, 4, 3)
    (axes,) = made.axes
    bars(axes, ["one"], {"x": [Interval(0.0, 0.0, 0.0)]})
    assert axes.get_xlim() == (0.0, 1.0)


def test_where_nothing_was_given_away_the_privacy_plane_still_begins_at_0(tmp_path: Path):
    run(Experiment(game="calbench", strategy=StrategySpec.parse("silent"), limit=2, out=str(tmp_path / "run")))
    games = gather_runs([tmp_path / "run"], [PRIVACY_COST.read]).seen(PRIVACY_COST.read)
    made = PRIVACY_COST.figure(games, Reporting())
    assert made is not None
    left, right = made.axes[0].get_xlim()
    assert -0.1 < left < 0 < 0.9 < right
