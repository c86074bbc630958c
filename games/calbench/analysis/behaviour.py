"""CalBench's figures of behaviour: first speakers, messages, meetings moved (paper, figures 6 to 9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from framework.analysis import Drawing, Part, Sample, Seen
from framework.analysis.figures import by_label, settings_of
from framework.analysis.plotting import bars, figure, finish, looks, points
from framework.experiment import Reporting
from framework.stats import Interval
from games.calbench.analysis.facts import GameFacts, game_facts
from games.calbench.analysis.figures import by_setting
from games.calbench.analysis.speakers import MEASURES, Measure
from games.calbench.analysis.talk import FIRST, LATER, index, messages_by, role

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIRST_SPEAKER", "PRIOR_MOVED", "TALK_BY_MEETING", "TALK_BY_ROLE"]

Games = Sequence[Seen[GameFacts | None]]
Parts = Sequence[Part[GameFacts | None]]
ROLES = {True: "first speaker", False: "later speakers"}


def _note(reporting: Reporting) -> str:
    return f"{100 * reporting.confidence:g} % intervals over games"


# --- figure 6 ---------------------------------------------------------------------------------------


def _by_role(parts: Parts, measure: Measure) -> dict[bool, Sample]:
    found = {True: Sample(), False: Sample()}
    for game, seats in parts:
        for meeting in game.facts.meetings if game.facts else ():
            value = measure.of(meeting)
            if meeting.seat in seats and value is not None:
                found[meeting.first].add((game.run, game.result.game_id), [value])
    return found


def _first_speaker(games: Games, reporting: Reporting) -> Figure | None:
    labels = {label: [part for parts in own.values() for part in parts] for label, own in by_label(games).items()}
    titles = {"excess": "Excess cost of a scheduled meeting", "vps": "VPS of a round"}
    samples = {
        name: {label: _by_role(parts, measure) for label, parts in labels.items()}
        for name in titles
        for measure in MEASURES
        if measure.name == name
    }
    shown = [name for name in titles if any(len(s) for by in samples[name].values() for s in by.values())]
    if not shown:
        return None
    made = figure(len(shown), 4.6, 1.7 + 0.62 * len(labels))
    for axes, name in zip(made.axes, shown, strict=True):
        found = samples[name]
        names = [f"{label}\nn = {len(by[True])}, {len(by[False])}" for label, by in found.items()]
        series = {text: [by[first].mean(reporting) for by in found.values()] for first, text in ROLES.items()}
        bars(axes, names, series)
        axes.set_title(titles[name], fontsize=9)
    note = (
        f"Means over participants and meetings (n first, later), all settings together, with {_note(reporting)}. "
        "Cost on the 1/2/3 scale, VPS before the floor."
    )
    return finish(made, "What it costs to speak first", note, looks(list(ROLES.values())), "bar")


FIRST_SPEAKER: Drawing[GameFacts | None] = Drawing(
    name="first-speaker", title="First speakers and others (figure 6)", read=game_facts, draw=_first_speaker
)


# --- figure 7 ---------------------------------------------------------------------------------------


def _talk_by_meeting(games: Games, reporting: Reporting) -> Figure | None:
    from matplotlib.ticker import MaxNLocator

    labels = by_label(games)
    if not labels:
        return None
    styles, settings = looks(list(labels)), settings_of(labels)
    made = figure(len(settings), 4.4, 4.0, share_y=True)
    for axes, setting in zip(made.axes, settings, strict=True):
        for place, (label, own) in enumerate(labels.items()):
            samples = messages_by(own.get(setting, []), index)
            apart = 0.05 * (place - (len(labels) - 1) / 2)
            means = {meeting + apart: sample.mean(reporting) for meeting, sample in samples.items()}
            known = {x: mean for x, mean in means.items() if mean is not None}
            axes.plot(
                list(known),
                [mean.mean for mean in known.values()],
                linestyle=styles[label].line,
                color=styles[label].colour,
                linewidth=1.5,
            )
            for x, mean in known.items():
                points(axes, x, mean, styles[label])
        axes.set_xlabel("Meeting")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_title(setting or "all games", fontsize=10)
        axes.set_ylim(bottom=0)
    made.axes[0].set_ylabel("Messages of a participant")
    entries = {f"{label} (n = {_a_meeting(own)} a meeting)": styles[label] for label, own in labels.items()}
    note = f"Means over participants (n, by setting) with {_note(reporting)}."
    return finish(made, "Messages by place in the stream of meetings", note, entries, "line")


def _a_meeting(own: dict[str, list[Part[GameFacts | None]]]) -> str:
    """Participants behind one point, by setting: a number, or a range where meetings differ."""
    texts = []
    for _, parts in sorted(own.items()):
        counts = {len(sample) for sample in messages_by(parts, index).values()} or {0}
        texts.append(str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}")
    return ", ".join(texts)


TALK_BY_MEETING: Drawing[GameFacts | None] = Drawing(
    name="talk-by-meeting", title="Messages by meeting (figure 7)", read=game_facts, draw=_talk_by_meeting
)


# --- figure 8 ---------------------------------------------------------------------------------------


def _talk_by_role(games: Games, reporting: Reporting) -> Figure | None:
    labels = by_label(games)
    settings = settings_of(labels)
    if not labels:
        return None
    made = figure(len(settings), 4.4, 1.7 + 0.62 * len(labels))
    names = {FIRST: "first speaker", LATER: "later speakers"}
    for axes, setting in zip(made.axes, settings, strict=True):
        samples = {label: messages_by(own.get(setting, []), role) for label, own in labels.items()}
        series: dict[str, list[Interval | None]] = {
            text: [found[key].mean(reporting) if key in found else None for found in samples.values()]
            for key, text in names.items()
        }
        counts = {label: [len(found.get(key, Sample())) for key in names] for label, found in samples.items()}
        bars(axes, [f"{label}\nn = {', '.join(map(str, own))}" for label, own in counts.items()], series)
        axes.set_title(setting or "all games", fontsize=10)
        axes.set_xlabel("Messages of a participant")
    note = f"Means over participants and meetings (n first, later) with {_note(reporting)}."
    return finish(made, "Messages by who speaks first", note, looks(list(names.values())), "bar")


TALK_BY_ROLE: Drawing[GameFacts | None] = Drawing(
    name="talk-by-role", title="Messages by speaker role (figure 8)", read=game_facts, draw=_talk_by_role
)


# --- figure 9 ---------------------------------------------------------------------------------------


def _prior_moved(games: Games, reporting: Reporting) -> Figure | None:
    note = "Distinct meetings that were already scheduled and that a seat moved in a game."
    return by_setting(games, "prior_moved", "Earlier meetings moved", "Meetings moved by a seat", note, reporting)


PRIOR_MOVED: Drawing[GameFacts | None] = Drawing(
    name="prior-meetings", title="Earlier meetings moved (figure 9)", read=game_facts, draw=_prior_moved
)
