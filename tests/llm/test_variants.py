"""Prompt blocks: how they are found and read, and that nothing else of a prompt changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adversarial.model_seats import NosyHighPressure, Redteam
from dspy_variants import Variant, load_variant, shipped, write_variant
from dspy_variants.seat import VariantStrategy
from framework import Seating, Trace, play
from framework.errors import UserError
from framework.trace import AgentRegistered
from games.calbench import CalBench, Scenario
from protocols.events import ModelSeat
from protocols.imap import Imap
from protocols.llm import LlmStrategy
from tests.llm.fakes import FakeClient, first_free

BLOCK = Variant(name="brief", version=3, game="calbench", made="authored", text="Be brief.")


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return CalBench().suite("quick", 0)[0]


async def prompts_with(scenario: Scenario, strategy: LlmStrategy) -> tuple[Trace, str, str]:
    """The trace, and the system prompts of seat 0 without and with what `strategy` adds."""
    found = []
    for seated in (LlmStrategy(from_client=FakeClient(first_free)), strategy):
        table = [Seating("tried", seated), *(Seating("imap", Imap()) for _ in range(4))]
        trace = await play(CalBench(), scenario, table)
        assert trace.aborted is None, trace.aborted
        found.append(next(event.system_prompt for event in trace.of(AgentRegistered) if event.seat == 0))
    return trace, found[0], found[1]


@pytest.mark.parametrize("kind", [NosyHighPressure, Redteam])
async def test_an_adversarial_model_gets_one_section_more_and_nothing_else_changes(
    scenario: Scenario, kind: type[LlmStrategy]
) -> None:
    trace, base, prompt = await prompts_with(scenario, kind(from_client=FakeClient(first_free)))
    assert prompt.startswith(f"{base}\n\n## Additional instruction\n")
    assert prompt[len(base) :].count("## ") == 1
    assert trace.start.adversarial == (0,)
    assert [event.adversarial for event in trace.of(AgentRegistered)] == [True, False, False, False, False]


async def test_a_block_follows_the_base_prompt_which_stays_byte_for_byte_the_same(scenario: Scenario) -> None:
    seated = VariantStrategy(from_client=FakeClient(first_free), variant="x", block=BLOCK)
    trace, base, prompt = await prompts_with(scenario, seated)
    assert prompt == f"{base}\n\nBe brief."
    (event,) = trace.of(ModelSeat)
    assert event.variant == f"brief@3 sha256:{BLOCK.hash}"


async def test_a_block_of_another_game_is_a_mistake_of_the_user(scenario: Scenario) -> None:
    other = BLOCK.model_copy(update={"game": "east"})
    seated = VariantStrategy(from_client=FakeClient(first_free), variant="x", block=other)
    table = [Seating("tried", seated), *(Seating("imap", Imap()) for _ in range(4))]
    trace = await play(CalBench(), scenario, table)
    assert trace.aborted
    assert trace.aborted.boundary == "user"


def test_every_shipped_block_is_whole_and_named_as_its_file() -> None:
    paths = list(shipped())
    assert paths
    for path in paths:
        variant = load_variant(str(path))
        assert variant.filename == path.name
        assert load_variant(variant.label) == variant


def test_a_name_without_a_version_is_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dspy_variants.variants.SHIPPED", tmp_path)
    for version in (2, 10, 9):
        write_variant(tmp_path, BLOCK.model_copy(update={"version": version}))
    assert load_variant("brief").version == 10
    assert load_variant("brief@2").version == 2
    with pytest.raises(UserError, match="no version 7; use one of 2, 9, 10"):
        load_variant("brief@7")


def test_what_is_written_is_what_is_read_and_a_version_is_never_overwritten(tmp_path: Path) -> None:
    path = write_variant(tmp_path, BLOCK)
    assert load_variant(str(path)) == BLOCK
    with pytest.raises(UserError, match="is there already"):
        write_variant(tmp_path, BLOCK.model_copy(update={"text": "Another."}))


@pytest.mark.parametrize(
    "wanted",
    ["../secret.md", "blocks/../../secret.md", "../../etc/passwd", "a/b", "", "Brief", "brief@x", "/etc/passwd", ".md"],
)
def test_a_path_that_leads_upwards_and_a_name_that_is_a_path_are_refused(wanted: str) -> None:
    with pytest.raises(UserError, match="variant"):
        load_variant(wanted)


def test_a_link_is_refused(tmp_path: Path) -> None:
    path = write_variant(tmp_path, BLOCK)
    os.symlink(path, tmp_path / "link.md")
    with pytest.raises(UserError, match="is a link"):
        load_variant(str(tmp_path / "link.md"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Be brief.", "no front matter"),
        ("---\nname: x\n---\nBe brief.\n", "'version' is missing"),
        ("---\nname: x\nversion: 0\ngame: g\nmade: authored\n---\nBe brief.\n", "version"),
        ("---\n[\n---\nBe brief.\n", "not YAML"),
        ("---\nname: x\nversion: 1\ngame: g\nmade: authored\n---\n\n", "text"),
    ],
)
def test_a_file_that_is_not_a_block_is_said_in_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text(text)
    with pytest.raises(UserError, match=said):
        load_variant(str(tmp_path / "x.md"))
