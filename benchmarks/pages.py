"""How long the pages of a large run take: to write, to open from disk, and to step through a game.

`python -m benchmarks pages` plays 1,000 games first; `python -m benchmarks.pages --site DIR` measures a site
that is there. Both need the extra `test` and an installed Chromium. Times are medians; a fresh browser
context, which has cached nothing, opens each page.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.measure import Row

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["pages"]

CHROMIUM = "/usr/bin/chromium"
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
SHOWN = "performance.getEntriesByName('shown').at(-1)?.startTime ?? -1"
STEPS = """() => new Promise((done) => {
  const press = () => document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
  const times = [];
  const step = () => {
    const began = performance.now();
    press();
    document.body.getBoundingClientRect();
    times.push(performance.now() - began);
    if (times.length < 60) requestAnimationFrame(step); else done(times);
  };
  step();
})"""


def make_run(folder: Path, games: int) -> Path:
    """Play a mixed run of the reference protocols on CalBench's quick suite."""
    from framework.experiment import Experiment
    from framework.runner import run
    from framework.specs import StrategySpec

    tasks = 6
    experiment = Experiment(
        game="calbench",
        suite="quick",
        repeats=-(-games // tasks),
        strategy=StrategySpec(name="sd-map"),
        seats={0: StrategySpec(name="imap"), 1: StrategySpec(name="dsm-welfare")},
        rotate=True,
        jobs=2,
        out=str(folder / "mixed"),
    )
    return run(experiment).folder


def measure_site(run: Path, out: Path) -> list[Row]:
    """Write a site of a run."""
    from framework.pages.runs import open_runs
    from framework.pages.site import write_site

    began = time.perf_counter()
    runs = open_runs([run])
    read = time.perf_counter()
    write_site(runs, out)
    written = time.perf_counter()
    games = len(runs[0].numbers)
    return [
        Row(f"read the rows of {games} games", 1000 * (read - began), "ms"),
        Row(f"write the site of {games} games, each", 1000 * (written - read) / games, "ms"),
    ]


def open_page(browser: Browser, address: str) -> Page:
    """A page in a context that has cached nothing."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(address)
    await_more(page, SHOWN, 0)
    return page


def await_more(page: Page, script: str, than: float) -> float:
    """Wait until a number that a page says of itself is above another. The pages allow no `eval`, so ask again."""
    for _ in range(2000):
        value = float(page.evaluate(script))
        if value > than:
            return value
        page.wait_for_timeout(5)
    raise TimeoutError(f"{page.url} was not drawn in ten seconds")


def repeated(browser: Browser, address: str, script: str, times: int) -> float:
    """Median of a number that a page says of itself, over fresh contexts."""
    found = []
    for _ in range(times):
        page = open_page(browser, address)
        found.append(await_more(page, script, 0))
        page.context.close()
    return median(found)


def measure_pages(site: Path, times: int) -> list[Row]:
    """Open the pages of a site from disk."""
    from playwright.sync_api import sync_playwright

    index = (site / "index.html").resolve().as_uri()
    run = next(path.stem for path in (site / "data/run").glob("*.js"))
    where = f"{index}#/run/{run}"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        open_page(browser, index).context.close()  # the first page also starts the browser's processes
        lines = [
            Row("list of runs, first paint", repeated(browser, index, PAINTED, times), "ms", 1000),
            Row("run, first paint", repeated(browser, where, PAINTED, times), "ms", 1000),
            Row("run, its games drawn", repeated(browser, where, SHOWN, times), "ms", 1000),
            Row("game opened by its address", repeated(browser, f"{where}/game/7", SHOWN, times), "ms", 200),
        ]
        page = open_page(browser, where)
        turns = [_turn(page, f"#/run/{run}/game/{number}") for number in range(11, 11 + 5 * times, 5)]
        lines.append(Row("game opened from another page", median(turns), "ms", 200))
        steps = sorted(page.evaluate(STEPS))
        lines += [Row("step, median", median(steps), "ms", 16), Row("step, slowest of 60", steps[-1], "ms", 50)]
        browser.close()
    return lines


def _turn(page: Page, address: str) -> float:
    """Milliseconds from following a link to the drawn page."""
    began = float(page.evaluate("(to) => { const now = performance.now(); location.hash = to; return now; }", address))
    return await_more(page, SHOWN, began) - began


def pages(games: int = 1000, times: int = 7) -> list[Row]:
    """Play a run, write its site, and open the pages."""
    with tempfile.TemporaryDirectory() as place:
        site = Path(place) / "site"
        return measure_site(make_run(Path(place), games), site) + measure_pages(site, times)


def main() -> None:
    """Print the figures of a site that is there, or of a run that is played."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=1000, help="games of the run that is played")
    parser.add_argument("--site", type=Path, help="a site that is there already")
    parser.add_argument("--times", type=int, default=7, help="how often each page is opened")
    asked = parser.parse_args()
    rows = measure_pages(asked.site, asked.times) if asked.site else pages(asked.games, asked.times)
    for row in rows:
        print(f"{row.name:45}  {row.value:9.1f} {row.unit}  {row.bound}{'' if row.holds else '  over'}")


if __name__ == "__main__":
    main()
