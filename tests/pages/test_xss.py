"""Nothing that a model, a strategy, a game or a file name says is ever markup or script on a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framework.pages.runs import open_runs
from framework.pages.site import write_site
from tests.pages import browsing
from tests.pages.browsing import Visit, address_of
from tests.pages.hostile import POISONS
from tests.pages.runs import hostile

if TYPE_CHECKING:
    from playwright.sync_api import Browser

browser = pytest.fixture(scope="module")(browsing.browser)
STRANGERS = """() => {
  const tags = ['SCRIPT', 'IMG', 'IFRAME', 'OBJECT', 'EMBED', 'BASE', 'FORM', 'STYLE', 'LINK', 'META'];
  const ours = (a) => (a.name === 'href' ? /^(#|traces\\/)/.test(a.value)
    : a.name === 'style' ? /^(--[a-z]+: ?[\\w.%-]*;? ?)+$/.test(a.value)
    : !a.name.startsWith('on') && !['srcdoc', 'src', 'action', 'formaction'].includes(a.name));
  return [...document.querySelectorAll('body, body *')]
    .filter((e) => tags.includes(e.tagName) || ![...e.attributes].every(ours))
    .map((e) => e.outerHTML.slice(0, 200));
}"""
PWNED = "() => [window.pwned, {}.polluted, Object.prototype.polluted].filter((x) => x !== undefined)"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hostile")
    poisoned = hostile(root)
    out = root / "site"
    write_site(open_runs([poisoned, root / "spit"]), out, title=POISONS[1])
    return out


@pytest.fixture(scope="module")
def runs(site: Path) -> list[str]:
    return sorted(path.stem for path in (site / "data/run").glob("*.js"))


@pytest.fixture
def visit(browser: Browser, site: Path) -> Iterator[Visit]:
    visit = Visit(browser, address_of(site))
    yield visit
    visit.leave()


def check(visit: Visit) -> None:
    """Nothing ran, nothing was refused by the policy, and nothing foreign is in the page."""
    assert visit.page.evaluate(PWNED) == []
    assert visit.page.evaluate(STRANGERS) == []
    assert visit.complaints == []


def open_everything(visit: Visit) -> None:
    """Unfold all there is, and press every choice and heading."""
    for _ in range(3):
        visit.page.evaluate(
            "() => document.querySelectorAll('details:not([open]) > summary').forEach((s) => s.click())"
        )
        visit.page.wait_for_timeout(100)
    visit.page.evaluate(
        "() => document.querySelectorAll('.choice button, .tablebox thead button').forEach((b) => b.click())"
    )
    visit.page.wait_for_timeout(100)


@pytest.mark.parametrize("page", ["#/", "#/board"])
def test_poison_in_lists_is_text(visit: Visit, page: str) -> None:
    visit.go(page)
    visit.page.locator("tbody th, .estimate").first.wait_for()
    open_everything(visit)
    check(visit)


def test_poison_in_a_run_is_text(visit: Visit, runs: list[str]) -> None:
    for run in runs:
        visit.go(f"#/run/{run}")
        visit.page.locator("#games").wait_for()
        visit.page.locator(".board-place:not(.coming) .tablebox").wait_for()
        visit.press("m")
        visit.page.keyboard.type("pwned")
        visit.page.locator(".hits mark").first.wait_for()
        open_everything(visit)
        check(visit)


def test_poison_in_a_game_is_text_at_every_step(visit: Visit, runs: list[str]) -> None:
    for run in runs:
        visit.go(f"#/run/{run}/game/0")
        visit.page.wait_for_selector(".stepper")
        open_everything(visit)
        visit.page.locator(".finder input").fill("pwned")
        visit.page.locator(".finder .status", has_text=" of ").wait_for()
        check(visit)
        visit.page.locator(".finder input").fill("")
        visit.page.locator(".finder .status:empty").wait_for(state="attached")
        visit.page.locator("h1").click()
        visit.press("Home")
        for _ in range(int(visit.page.locator(".controls .num").inner_text().split(" / ")[1])):
            visit.press("ArrowRight")
        check(visit)
        for poison in POISONS:
            text = visit.page.locator("main").evaluate("(e) => e.textContent")
            assert poison in text, f"the page lacks {poison!r}, so the test shows nothing"


def test_poison_in_an_address_is_text(visit: Visit) -> None:
    for poison in POISONS:
        visit.page.evaluate("(to) => { location.hash = '#/run/' + encodeURIComponent(to) + '/game/1'; }", poison)
        visit.page.locator(".note.bad").wait_for()
        visit.page.evaluate("(to) => { location.hash = '#/?q=' + encodeURIComponent(to); }", poison)
        visit.page.locator(".status").wait_for()
        check(visit)


def test_the_policy_refuses_a_script_and_a_connection_even_if_one_got_in(visit: Visit) -> None:
    visit.page.evaluate("""() => {
      const script = document.createElement('script');
      try { script.textContent = 'window.pwned=1'; } catch { /* the policy on trusted types */ }
      document.body.append(script);
      try { document.body.insertAdjacentHTML('beforeend', '<b onclick="window.pwned=1">'); } catch { /* the same */ }
      document.body.append(Object.assign(document.createElement('script'), { async: true }));
    }""")
    visit.page.evaluate("() => fetch('http://127.0.0.1:9/').catch(() => {})")
    visit.page.wait_for_timeout(50)
    assert visit.page.evaluate(PWNED) == []
    assert any("Content Security Policy" in said for said in visit.complaints)
    assert any("connect" in said for said in visit.complaints)
