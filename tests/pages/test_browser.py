"""The pages in a browser, opened from disk and from the local server."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framework.pages.runs import open_runs
from framework.pages.server import listen, make_app
from framework.pages.site import write_site
from tests.pages import browsing
from tests.pages.browsing import UNNAMED, Visit, address_of
from tests.pages.runs import play, toy

if TYPE_CHECKING:
    from playwright.sync_api import Browser

browser = pytest.fixture(scope="module")(browsing.browser)
GAME = "#/run/sdmap/game/0"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("runs")
    return [
        play(root / "sdmap", game="calbench", strategy="sd-map", seats={0: "imap"}, rotate=True),
        play(root / "east", game="east", strategy="normative", seats={1: "egocentric"}),
        toy(root / "many", repeats=200),
    ]


@pytest.fixture(scope="module")
def site(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "site"
    write_site(open_runs(folders), out, title="Our runs")
    return out


@pytest.fixture
def visit(browser: Browser, site: Path) -> Iterator[Visit]:
    visit = Visit(browser, address_of(site))
    yield visit
    assert visit.complaints == []
    visit.leave()


# --- lists ----------------------------------------------------------------------------------------


def test_the_runs_are_listed_and_lead_to_their_pages(visit: Visit) -> None:
    assert visit.page.locator("h1").inner_text() == "Our runs"
    assert len(visit.rows()) == 3
    visit.page.get_by_role("link", name="sdmap").click()
    visit.page.wait_for_selector("#games")
    assert visit.hash == "#/run/sdmap"
    assert visit.page.locator("h1").inner_text() == "sdmap"


def test_slash_filters_and_the_filter_is_kept_in_the_address(visit: Visit) -> None:
    visit.press("/")
    visit.page.keyboard.type("calbench")
    visit.page.locator(".status", has_text="1 of 3").wait_for()
    assert [row.split("\t")[0] for row in visit.rows()] == ["sdmap"]
    assert visit.hash == "#/?q=calbench"


def test_games_are_filtered_by_words_and_by_numbers_together(visit: Visit) -> None:
    visit.go("#/run/sdmap?q=varied excess>0")
    visit.page.locator("#games").wait_for()
    rows = visit.rows()
    assert rows
    assert all("varied" in row for row in rows)
    visit.page.locator("[data-filter]").fill("coordination<0")
    visit.page.get_by_text("No game fits.").wait_for()


def test_a_heading_sorts_and_sorts_the_other_way_when_pressed_again(visit: Visit) -> None:
    visit.go("#/run/sdmap")
    heading = visit.page.locator(".tablebox").last.get_by_role("columnheader", name="Excess")

    def column() -> list[float]:
        place = visit.page.locator(".tablebox").last.locator("thead th").all_inner_texts().index("Excess")
        return [float(row.split("\t")[place]) for row in visit.rows()]

    heading.get_by_role("button").click()
    assert column() == sorted(column())
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.get_by_role("button").click()
    assert column() == sorted(column(), reverse=True)
    assert heading.get_attribute("aria-sort") == "descending"


def test_a_long_list_is_drawn_as_far_as_one_scrolls_and_counted_in_full(visit: Visit) -> None:
    visit.go("#/run/many")
    visit.page.locator(".status", has_text="400").wait_for()
    assert len(visit.rows()) < 400
    for _ in range(12):
        visit.page.mouse.wheel(0, 6000)
        visit.page.wait_for_timeout(50)
    assert len(visit.rows()) == 400


def test_keys_move_through_a_list_and_open_what_is_marked(visit: Visit) -> None:
    visit.go("#/run/sdmap")
    visit.page.locator("#games").wait_for()
    visit.press("j", "j", "k", "j", "Enter")
    visit.page.wait_for_selector(".stepper")
    assert visit.hash.startswith("#/run/sdmap/game/1")


def test_the_leaderboard_shows_means_with_intervals_by_game_and_setting(visit: Visit) -> None:
    visit.go("#/board?game=calbench")
    visit.page.locator(".estimate").first.wait_for()
    head = visit.page.locator("thead").inner_text()
    assert "Coord." in head
    assert "VPS" in head
    assert any(" to " in row for row in visit.rows())
    before = len(visit.rows())
    visit.page.get_by_role("button", name="varied", exact=True).click()
    assert 0 < len(visit.rows()) < before
    assert "setting=varied" in visit.hash


# --- a game ---------------------------------------------------------------------------------------


def test_stepping_by_keys_marks_one_step_after_the_other_and_ends_at_the_last(visit: Visit) -> None:
    visit.go(GAME)
    visit.page.wait_for_selector(".stepper")
    at = visit.page.locator(".controls .num")
    total = int(at.inner_text().split(" / ")[1])
    assert at.inner_text() == f"1 / {total}"
    visit.press("ArrowRight", "j", "j", "k", "ArrowLeft")
    assert at.inner_text() == f"2 / {total}"
    visit.press("End", "ArrowRight")
    assert at.inner_text() == f"{total} / {total}"
    visit.press("Home")
    assert at.inner_text() == f"1 / {total}"
    assert visit.page.locator("[aria-current=step]").count() == 1


def test_the_address_follows_the_steps_and_leads_back_to_them(visit: Visit, browser: Browser, site: Path) -> None:
    visit.go(f"{GAME}/message/5")
    visit.page.wait_for_selector("[aria-current=step]")
    assert "#5" in visit.step()
    said = visit.step()
    visit.press("j", "j")
    visit.page.wait_for_timeout(300)
    assert visit.hash not in (f"{GAME}/message/5", GAME)
    again = Visit(browser, address_of(site, visit.hash))
    again.page.wait_for_selector("[aria-current=step]")
    assert again.step() == visit.step() != said
    again.leave()


def test_the_current_step_is_in_sight_wherever_one_comes_from(visit: Visit) -> None:
    seen = """() => {
      const pane = document.querySelector('.pane.talk').getBoundingClientRect();
      const step = document.querySelector('[aria-current=step]').getBoundingClientRect();
      return step.top >= pane.top && step.top < pane.bottom && document.documentElement.scrollTop === 0;
    }"""
    for place in ("message/20", "message/2", "round/4", "round/1", "message/30"):
        visit.go(f"{GAME}/{place}")
        visit.page.wait_for_selector("[aria-current=step]")
        visit.page.wait_for_timeout(150)
        assert visit.page.evaluate(seen), place
    visit.press("End")
    assert visit.page.evaluate(seen)


def test_a_round_is_reached_by_its_address_and_by_keys(visit: Visit) -> None:
    visit.go(f"{GAME}/round/2")
    visit.page.wait_for_selector("[aria-current=step]")
    assert visit.step().startswith("Round 3")
    visit.press("]")
    assert visit.step().startswith("Round 4")
    visit.press("[", "[")
    assert visit.step().startswith("Round 2")


def test_the_calendars_change_where_a_batch_takes_effect_and_go_back(visit: Visit) -> None:
    visit.go(f"{GAME}/round/0")
    visit.page.wait_for_selector(".grid")
    cells = visit.page.locator(".grid .cell")
    start = cells.all_inner_texts()
    changed = visit.page.locator(".grid .cell.changed")
    while not changed.count():
        visit.press("ArrowRight")
    assert "takes effect" in visit.step()
    marked = cells.evaluate_all("(all) => all.map((cell) => cell.classList.contains('changed'))")
    differs = [old != new for old, new in zip(start, cells.all_inner_texts(), strict=True)]
    assert any(differs)
    assert all(mark for mark, differ in zip(marked, differs, strict=True) if differ)
    visit.press("End")
    assert any(text.startswith("M") for text in cells.all_inner_texts())
    visit.press("Home")
    assert cells.all_inner_texts() == start


def test_a_message_says_who_could_read_it(visit: Visit) -> None:
    visit.go(f"{GAME}/message/0")
    visit.page.wait_for_selector("[aria-current=step]")
    assert "only seat" in visit.step()
    marked = visit.page.locator(".rowhead.reads")
    assert marked.count() == 1


def test_the_belief_view_follows_messages_and_sums_what_they_moved(visit: Visit) -> None:
    visit.go(GAME)
    visit.page.wait_for_selector(".belief-table")
    here = visit.page.locator(".belief-row.here")
    for _ in range(200):
        visit.press("ArrowRight")
        if here.count():
            break
    else:
        pytest.fail("no message of the game moved a belief")
    moved = here.locator(".belief.moved").count()
    assert moved > 0
    sums = visit.page.locator(".belief-row.now .sum").inner_text()
    assert float(sums) == pytest.approx(0.5 * moved, abs=0.5 * moved)
    visit.page.get_by_label("observer").select_option("2")
    assert not visit.page.get_by_role("checkbox").is_checked()


def test_long_texts_are_loaded_when_they_are_opened(visit: Visit) -> None:
    visit.go(f"{GAME}/round/0")
    visit.page.wait_for_selector(".stepper")
    fold = visit.page.locator("details.text", has_text="Own state").first
    assert fold.locator("pre").count() == 0
    fold.locator("summary").click()
    fold.locator("pre").wait_for()
    assert fold.locator("pre").inner_text().startswith("Slot 0:")


def test_neighbouring_games_are_one_key_away(visit: Visit) -> None:
    visit.go(GAME)
    visit.page.locator("[data-next]").wait_for()
    visit.press("n")
    visit.page.get_by_text("2 of 6").wait_for()
    assert visit.hash.startswith("#/run/sdmap/game/1")
    visit.press("p")
    visit.page.get_by_text("1 of 6").wait_for()


def test_an_east_game_shows_what_each_seat_knew_and_chose(visit: Visit) -> None:
    visit.go("#/run/east/game/0")
    visit.page.wait_for_selector(".card")
    cards = visit.page.locator(".card").all_inner_texts()
    assert len(cards) == 2
    assert all("persona" in card and "chose" in card for card in cards)
    visit.press("Home")
    assert all("not yet" in card for card in visit.page.locator(".card").all_inner_texts())


def test_nothing_moves_on_the_page_while_one_steps(visit: Visit) -> None:
    visit.go(f"{GAME}/round/0")
    visit.page.wait_for_selector(".grid")
    box = "document.querySelector({!r}).getBoundingClientRect().toJSON()"
    places = [".grid", ".stepper", ".pane.talk", ".beliefs"]
    before = [visit.page.evaluate(box.format(place)) for place in places]
    for _ in range(30):
        visit.press("ArrowRight")
        after = [visit.page.evaluate(box.format(place)) for place in places]
        assert [(b["x"], b["y"], b["width"]) for b in after] == [(b["x"], b["y"], b["width"]) for b in before]


# --- every page -----------------------------------------------------------------------------------

PAGES = ["#/board", "#/run/sdmap", "#/run/east", f"{GAME}/message/3", "#/run/east/game/3", "#/"]


@pytest.mark.parametrize("width", [360, 1280, 2560])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_the_window(browser: Browser, site: Path, width: int, scheme: str) -> None:
    viewport = {"width": width, "height": 800}
    visit = Visit(browser, address_of(site), viewport=viewport, color_scheme=scheme)
    for page in PAGES:
        visit.open(page)
        assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page
    assert visit.complaints == []
    visit.leave()


def test_the_headline_of_the_leaderboard_needs_no_scrolling_on_a_laptop(browser: Browser, site: Path) -> None:
    visit = Visit(browser, address_of(site), viewport={"width": 1200, "height": 800})
    visit.open("#/board?game=calbench")
    visit.page.locator(".estimate").first.wait_for()
    table = visit.page.locator(".scroll table").first
    assert table.evaluate("table => table.offsetWidth <= table.parentElement.clientWidth")
    visit.leave()


def test_everything_that_can_be_used_has_a_name(visit: Visit) -> None:
    for page in PAGES:
        visit.open(page)
        assert visit.page.evaluate(UNNAMED) == [], page


def test_the_help_lists_the_keys_of_the_page_and_closes(visit: Visit) -> None:
    visit.go(GAME)
    visit.page.wait_for_selector(".stepper")
    visit.press("?")
    assert "Next round" in visit.page.locator("dialog").inner_text()
    visit.press("Escape")
    visit.page.locator("dialog").wait_for(state="detached")


def test_the_colours_can_be_turned_and_stay(visit: Visit) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light = visit.page.evaluate(background)
    visit.press("t", "t")
    assert visit.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert visit.page.evaluate(background) != light
    visit.page.reload()
    visit.page.wait_for_selector("html[data-ready]")
    assert visit.page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize(("system", "chosen"), [("light", "dark"), ("dark", "light")])
def test_the_system_decides_on_the_colours_until_one_chooses(
    browser: Browser, site: Path, system: str, chosen: str
) -> None:
    grounds = {"light": "rgb(247, 246, 242)", "dark": "rgb(16, 21, 23)"}
    background = "getComputedStyle(document.body).backgroundColor"
    visit = Visit(browser, address_of(site), color_scheme=system)
    assert visit.page.evaluate(background) == grounds[system]
    visit.page.evaluate("(theme) => localStorage.setItem('cheaptalk-theme', theme)", chosen)
    visit.page.reload()
    visit.page.wait_for_selector("html[data-ready]")
    assert visit.page.evaluate(background) == grounds[chosen]
    visit.leave()


@pytest.mark.parametrize(
    "address", ["#/run/none", "#/run/sdmap/game/999", "#/run/none/game/1", "#/run/..%2f..%2fx/game/1"]
)
def test_an_address_that_leads_nowhere_says_so(browser: Browser, site: Path, address: str) -> None:
    visit = Visit(browser, address_of(site, address))
    visit.page.locator(".note.bad", has_text="There is no").wait_for()
    visit.leave()


def test_the_local_server_shows_the_same_pages(browser: Browser, folders: list[Path]) -> None:
    import uvicorn

    with listen("127.0.0.1", 0) as socket:
        server = uvicorn.Server(uvicorn.Config(make_app(open_runs(folders[:2])), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
        thread.start()
        try:
            visit = Visit(browser, f"http://127.0.0.1:{socket.getsockname()[1]}/{GAME}/message/2")
            visit.page.wait_for_selector("[aria-current=step]")
            assert "#2" in visit.step()
            assert visit.page.get_by_role("link", name="Trace").get_attribute("href") == "traces/sdmap/0.json"
            assert visit.complaints == []
            visit.leave()
        finally:
            server.should_exit = True
            thread.join()


def test_a_run_without_a_finished_game_says_so_in_place_of_figures(browser: Browser, tmp_path: Path) -> None:
    raising = toy(tmp_path / "raising", strategy="tests.core.players:Raising")
    write_site(open_runs([raising]), tmp_path / "site")
    visit = Visit(browser, address_of(tmp_path / "site", "#/run/raising"))
    visit.page.get_by_text("No game was finished, so there is nothing to draw.").wait_for()
    assert visit.page.locator("svg.scatter, .scatter").count() == 0
    assert visit.complaints == []
    visit.leave()


# --- finding things -------------------------------------------------------------------------------


def test_a_game_is_filtered_and_stepped_through_by_what_was_found(visit: Visit) -> None:
    visit.go(GAME)
    visit.page.wait_for_selector(".finder")
    status, at = visit.page.locator(".finder .status"), visit.page.locator(".controls .num")
    steps = int(at.inner_text().split(" / ")[1])
    visit.page.get_by_label("kind of step").select_option("decisions")
    found = int(status.inner_text().split(" of ")[0])
    assert 0 < found < steps
    shown = visit.page.locator(".step:visible")
    assert shown.count() == found
    assert all(
        "batch" in kind or "applied" in kind for kind in shown.evaluate_all("(all) => all.map((s) => s.className)")
    )
    visit.press("Home")
    seen = {at.inner_text()}
    for _ in range(found):
        visit.press("ArrowRight")
        seen.add(at.inner_text())
    assert len(seen) == found
    visit.page.get_by_label("kind of step").select_option("")
    assert shown.count() > found
    assert status.inner_text() == ""


def test_words_and_a_seat_narrow_a_game_down_together(visit: Visit) -> None:
    visit.go(f"{GAME}/message/0")
    visit.page.wait_for_selector(".finder")
    status = visit.page.locator(".finder .status")
    visit.press("/")
    visit.page.keyboard.type("propose")
    visit.page.locator(".finder .status", has_text=" of ").wait_for()
    both = int(status.inner_text().split(" of ")[0])
    visit.page.locator(".finder select").last.select_option("2")
    assert 0 < int(status.inner_text().split(" of ")[0]) < both
    visit.page.locator(".finder input").fill("no such word anywhere")
    visit.page.locator(".finder .status", has_text="0 of").wait_for()
    assert visit.page.locator(".step:visible").count() == 0


def test_escape_leaves_a_filter_as_it_is(visit: Visit) -> None:
    visit.press("/")
    visit.page.keyboard.type("calbench")
    visit.page.locator(".status", has_text="1 of 3").wait_for()
    visit.press("Escape")
    assert visit.page.locator("[data-filter]").input_value() == "calbench"
    assert len(visit.rows()) == 1


def test_the_messages_of_a_run_are_searched_and_lead_to_their_games(visit: Visit) -> None:
    visit.go("#/run/sdmap")
    visit.page.wait_for_selector("#messages")
    visit.press("m")
    visit.page.keyboard.type("propose agreement")
    hits = visit.page.locator(".hits li")
    hits.first.wait_for()
    assert all("propose" in text and "agreement" in text for text in hits.locator(".prose").all_inner_texts())
    assert {text.casefold() for text in visit.page.locator("mark").all_inner_texts()} == {"propose", "agreement"}
    said = hits.first.locator(".prose").inner_text()
    hits.first.get_by_role("link").click()
    visit.page.wait_for_selector("[aria-current=step]")
    assert "/message/" in visit.hash
    assert said.split('"kind":"')[1].split('"')[0].replace("_", " ") in visit.step()


def test_messages_that_could_not_be_had_are_asked_for_again(
    browser: Browser, folders: list[Path], tmp_path: Path
) -> None:
    write_site(open_runs(folders[:1]), tmp_path / "site", title="x")
    (data,) = (tmp_path / "site").rglob("sdmap/messages.js")
    data.rename(data.with_name("away.js"))
    visit = Visit(browser, address_of(tmp_path / "site", "#/run/sdmap"))
    visit.page.wait_for_selector("#messages")
    visit.press("m")
    visit.page.keyboard.type("propose")
    visit.page.locator(".hits .note", has_text="There is no data").wait_for()
    data.with_name("away.js").rename(data)
    visit.page.keyboard.type(" agreement")
    visit.page.locator(".hits mark").first.wait_for()
    visit.leave()


def test_what_is_typed_last_on_a_page_that_is_left_changes_no_address(visit: Visit) -> None:
    visit.press("/")
    visit.page.evaluate("""() => {
      const box = document.activeElement;
      box.value = "calbench";
      box.dispatchEvent(new Event("input"));
      location.hash = "#/run/sdmap";
    }""")
    visit.page.wait_for_selector("#messages")
    visit.page.wait_for_timeout(100)
    assert visit.hash == "#/run/sdmap"


def test_a_run_without_messages_says_so_when_it_is_searched(visit: Visit) -> None:
    visit.go("#/run/east")
    visit.page.wait_for_selector("#messages")
    visit.press("m")
    visit.page.keyboard.type("x")
    visit.page.get_by_text("Nobody sent a message in these games.").wait_for()


def test_the_rows_that_are_shown_are_saved_as_csv(visit: Visit) -> None:
    visit.go("#/run/sdmap?q=varied")
    visit.page.locator("#games").wait_for()
    shown = len(visit.rows())
    with visit.page.expect_download() as saved:
        visit.page.locator("section:has(#games) .save").click()
    assert saved.value.suggested_filename == "sdmap-games.csv"
    with Path(saved.value.path()).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == shown > 0
    assert {row["setting"] for row in rows} == {"varied"}
    assert all(0 <= float(row["coordination"]) <= 1 for row in rows)
    visit.go("#/board?game=calbench")
    visit.page.locator(".estimate").first.wait_for()
    with visit.page.expect_download() as saved:
        visit.page.locator(".save").first.click()
    with Path(saved.value.path()).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            assert float(row["excess_low"]) <= float(row["excess"]) <= float(row["excess_high"])


def test_a_link_to_the_step_is_copied(browser: Browser, site: Path) -> None:
    visit = Visit(browser, address_of(site, GAME), permissions=["clipboard-read", "clipboard-write"])
    visit.page.wait_for_selector(".stepper")
    visit.press("End", "c")
    visit.page.locator("#live", has_text="Link copied").wait_for(state="attached")
    copied = visit.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(address_of(site, GAME))
    again = Visit(browser, copied)
    again.page.wait_for_selector("[aria-current=step]")
    assert again.step() == visit.step()
    again.leave()
    visit.leave()


def test_a_link_to_what_the_game_does_not_have_says_so(visit: Visit) -> None:
    visit.go(f"{GAME}/message/99999")
    visit.page.locator(".said", has_text="There is no message 99999 in this game").wait_for()
    assert visit.page.locator(".controls .num").inner_text().startswith("1 /")


# --- as a reader meets it --------------------------------------------------------------------------

SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifts.push([
      entry.value, ...entry.sources.map((source) => String(source.node && source.node.className)),
    ]);
  }).observe({ type: "layout-shift", buffered: true });
}"""


@pytest.mark.parametrize("width", [360, 1280, 2560])
def test_nothing_is_pushed_away_while_a_page_comes_and_while_one_steps(
    browser: Browser, site: Path, width: int
) -> None:
    for page in ("#/", "#/run/sdmap", f"{GAME}/message/12", "#/run/east/game/3"):
        visit = Visit(browser, address_of(site), viewport={"width": width, "height": 900})
        visit.page.add_init_script(f"({SHIFTS})()")
        visit.page.goto("about:blank")
        visit.page.goto(address_of(site, page))
        visit.page.wait_for_selector("html[data-ready]")
        visit.page.wait_for_timeout(400)
        if "game" in page:
            visit.press(*["ArrowRight"] * 15, "]", "[", "End", "Home")
            visit.page.wait_for_timeout(250)
        moved = visit.page.evaluate("window.shifts.filter(([value]) => value > 0.0005)")
        assert moved == [], page
        visit.leave()


def test_headings_do_not_skip_a_level_and_folds_hold_no_links(visit: Visit) -> None:
    for page in PAGES:
        visit.open(page)
        levels = visit.page.locator("h1, h2, h3").evaluate_all("(all) => all.map((h) => Number(h.tagName[1]))")
        assert levels[0] == 1, page
        assert all(after <= before + 1 for before, after in pairwise(levels)), page
        assert visit.page.locator("summary a, summary button").count() == 0, page


def test_text_that_turns_its_direction_leaves_what_stands_beside_it(visit: Visit) -> None:
    visit.go(f"{GAME}/message/0")
    visit.page.wait_for_selector("[aria-current=step]")
    kinds = visit.page.locator(".prose, .value, .name, .tag, h1 .dim").evaluate_all(
        "(all) => all.map((e) => getComputedStyle(e).unicodeBidi)"
    )
    assert kinds
    assert set(kinds) <= {"isolate", "plaintext"}
