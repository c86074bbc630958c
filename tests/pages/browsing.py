"""A headless Chromium, where one is installed, and what tests ask of a page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRAWN = "performance.getEntriesByName('shown').length"
UNNAMED = """() => [...document.querySelectorAll('a, button, input, select, summary')]
  .filter((e) => e.checkVisibility())
  .filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label')?.textContent.trim()))
  .map((e) => e.outerHTML)"""


def browser() -> Iterator[Browser]:
    """A browser for the tests of one module; they are skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A page with what it complained of.

    Args:
        browser: The browser.
        address: Where to go first.
        options: Of the browser's context, such as its viewport.
    """

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.page: Page = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}).new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready]")

    def go(self, address: str) -> None:
        """Follow an address within the pages."""
        self.page.evaluate("(to) => { location.hash = to; }", address)

    def open(self, address: str) -> None:
        """Follow an address, and wait until its page is drawn."""
        before = self.page.evaluate(DRAWN)
        self.go(address)
        for _ in range(500):
            if self.page.evaluate(DRAWN) > before:
                return
            self.page.wait_for_timeout(20)
        raise TimeoutError(f"{address} was not drawn in ten seconds")

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def rows(self) -> list[str]:
        """The text of the rows of the last table with a filter."""
        return self.page.locator(".tablebox").last.locator("tbody tr").all_inner_texts()

    def step(self) -> str:
        """The text of the current step."""
        return self.page.locator("[aria-current=step]").inner_text()

    @property
    def hash(self) -> str:
        """The address within the pages."""
        found: str = self.page.evaluate("location.hash")
        return found

    def leave(self) -> None:
        """Close it."""
        self.page.context.close()


def address_of(site: Path, inside: str = "") -> str:
    """The address of a site on disk."""
    return (site / "index.html").resolve().as_uri() + inside
