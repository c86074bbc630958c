"""Finding games and strategies by name."""

from __future__ import annotations

import pickle
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from framework import Params, registry
from framework.errors import UserError, explain
from framework.specs import StrategySpec, short_names
from tests.core.players import NeedsModel
from tests.core.toy import Proposer, Toy

MINE = """
from framework import Params, Strategy
from helper_beside_mine import NUMBER

class MineParams(Params):
    theta: float = NUMBER

class Mine(Strategy):
    params_type = MineParams
    async def act(self, observation):
        return []

class Unfinished(Strategy):
    pass
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "helper_beside_mine.py").write_text("NUMBER = 0.25\n")
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return file


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch):
    """Stand-ins for what other distributions register."""

    def register(*found: EntryPoint) -> None:
        registry._points.cache_clear()
        monkeypatch.setattr(registry, "entry_points", lambda group: [p for p in found if p.group == group])

    yield register
    registry._points.cache_clear()


def test_a_class_is_found_by_module_and_by_file(mine: Path):
    assert registry.strategy("tests.core.toy:Proposer") is Proposer
    assert registry.game("tests.core.toy:Toy") is Toy
    found = registry.strategy(f"{mine}:Mine")
    assert found.__name__ == "Mine"
    assert registry.strategy(f"{mine}:Mine") is found, "a file is executed once"


def test_a_file_may_import_its_neighbours(mine: Path):
    assert StrategySpec.parse(f"{mine}:Mine").build().params.theta == 0.25


def test_an_unknown_name_is_answered_with_the_nearest(points):
    points(EntryPoint("proposer", "tests.core.toy:Proposer", registry.STRATEGIES))
    with pytest.raises(UserError, match="strategy 'propser' is unknown; did you mean 'proposer'"):
        registry.strategy("propser")
    with pytest.raises(UserError, match="strategy 'xyz' is unknown; use one of proposer"):
        registry.strategy("xyz")


def test_a_broken_entry_point_is_reported_only_when_asked_for(points):
    points(
        EntryPoint("broken", "no_such_module_anywhere:X", registry.STRATEGIES),
        EntryPoint("proposer", "tests.core.toy:Proposer", registry.STRATEGIES),
    )
    assert [entry.name for entry in registry.entries(registry.STRATEGIES)] == ["broken", "proposer"]
    assert registry.strategy("proposer") is Proposer
    with pytest.raises(UserError, match=r"'broken' cannot be loaded from no_such_module_anywhere:X: ModuleNotFound"):
        registry.strategy("broken")


def test_a_name_that_two_distributions_take_is_not_guessed(points):
    points(
        EntryPoint("same", "tests.core.toy:Proposer", registry.STRATEGIES),
        EntryPoint("same", "tests.core.players:Counting", registry.STRATEGIES),
    )
    with pytest.raises(UserError, match=r"'same' is registered by .*toy:Proposer.* and .*players:Counting"):
        registry.strategy("same")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tests.core.toy:Propser", "tests.core.toy has no 'Propser'; did you mean 'Proposer'"),
        ("tests.core.toy:DIGITS", "'tests.core.toy:DIGITS' is not a Strategy"),
        ("tests.core.nowhere:X", "cannot be loaded: ModuleNotFoundError"),
        ("nowhere.py:X", "there is no file nowhere.py; check the path"),
    ],
)
def test_what_is_no_strategy_is_said_in_one_sentence(name: str, said: str):
    with pytest.raises(UserError, match=said):
        registry.strategy(name)


def test_a_value_that_fits_none_of_several_kinds_is_named_by_its_key_alone():
    class Kinds(Params):
        share: Annotated[float, Field(le=1)] | tuple[float, ...] = 0.5

    with pytest.raises(ValidationError) as raised:
        Kinds(share=1.9)
    assert str(explain(raised.value, Kinds, "here")) == "here: 'share' is 1.9: input should be less than or equal to 1"


def test_a_class_whose_init_takes_no_parameters_is_told_to_take_them(tmp_path: Path):
    (tmp_path / "closed.py").write_text(
        "from framework import Strategy\n"
        "class Closed(Strategy):\n"
        "    def __init__(self): ...\n"
        "    async def act(self, observation): return ()\n"
    )
    with pytest.raises(UserError, match=r"cannot be seated: .*; let __init__ take the parameters, as in: def __init__"):
        StrategySpec.parse(f"{tmp_path / 'closed.py'}:Closed").build()


def test_a_class_that_lacks_its_method_is_named(mine: Path):
    with pytest.raises(UserError, match=r"Unfinished' does not define 'act'"):
        registry.strategy(f"{mine}:Unfinished")


def test_a_syntax_error_in_a_file_names_the_line(tmp_path: Path):
    file = tmp_path / "torn.py"
    file.write_text("x = 1\ny = (\n")
    with pytest.raises(UserError, match=r"torn.py:X' cannot be loaded: SyntaxError: [^(]*'\('[^(]*\(line 2\)$"):
        registry.strategy(f"{file}:X")


def test_what_a_file_raises_is_said_with_its_line(tmp_path: Path):
    (tmp_path / "raising_when_loaded.py").write_text("x = 1\nimport nothing_of_that_name\n")
    with pytest.raises(UserError, match=r"No module named 'nothing_of_that_name' \(raising_when_loaded.py line 2\)$"):
        registry.strategy(f"{tmp_path / 'raising_when_loaded.py'}:X")


def test_a_file_without_a_class_is_answered_with_how_to_name_one(mine: Path):
    with pytest.raises(UserError, match=r"mine.py' is a file; name a class in it, as .*mine.py:Class$"):
        registry.strategy(str(mine))


def test_a_file_that_another_one_imports_is_the_same_module(tmp_path: Path):
    (tmp_path / "shared_by_two.py").write_text("class Shared: ...\n")
    (tmp_path / "importing_it.py").write_text("from shared_by_two import Shared\n")
    one = registry.find(registry.GAMES, f"{tmp_path / 'shared_by_two.py'}:Shared")
    assert registry.find(registry.GAMES, f"{tmp_path / 'importing_it.py'}:Shared") is one


def test_a_file_is_not_taken_for_a_module_that_is_called_alike(tmp_path: Path):
    (tmp_path / "json.py").write_text("class Own: ...\n")
    assert registry.find(registry.GAMES, f"{tmp_path / 'json.py'}:Own").__name__ == "Own"


@pytest.mark.parametrize(
    ("text", "name", "params"),
    [
        ("imap", "imap", {}),
        ("dsm:theta=0.5,L_max=4", "dsm", {"theta": 0.5, "L_max": 4}),
        ("my.module:Class", "my.module:Class", {}),
        ("my.module:Class:a=true,b=null", "my.module:Class", {"a": True, "b": None}),
        ("path/to/file.py:Class:k=[1, 2],t=a,b", "path/to/file.py:Class", {"k": [1, 2], "t": "a,b"}),
        ("llm:url=http://localhost:8080/v1,model=m", "llm", {"url": "http://localhost:8080/v1", "model": "m"}),
        ("x:when=2024-01-01", "x", {"when": "2024-01-01"}),
    ],
)
def test_a_spec_is_read_from_text(text: str, name: str, params: dict[str, object]):
    spec = StrategySpec.parse(text)
    assert (spec.name, spec.params) == (name, params)
    assert StrategySpec.model_validate(text) == spec


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]\w{0,5}", fullmatch=True),
        st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), st.none()),
        max_size=4,
    )
)
def test_a_label_reads_back_as_the_same_spec(params: dict[str, int | bool | float | None]):
    spec = StrategySpec(name="my.module:Class", params=params)
    assert StrategySpec.parse(spec.label) == spec
    assert StrategySpec.model_validate_json(spec.model_dump_json()) == spec


def test_a_spec_travels_to_another_process():
    spec = StrategySpec.parse("tests.core.players:NeedsModel:path=x")
    built = pickle.loads(pickle.dumps(spec)).build()
    assert isinstance(built, NeedsModel)
    assert built.params.path == "x"
    assert built is not spec.build()


def test_an_unknown_parameter_is_answered_with_the_nearest():
    with pytest.raises(UserError, match="'pth' is not a known key; did you mean 'path'"):
        StrategySpec.parse("tests.core.players:NeedsModel:pth=x").build()
    with pytest.raises(UserError, match="'path' is 5: input should be a valid string"):
        StrategySpec.parse("tests.core.players:NeedsModel:path=5").build()


@pytest.mark.parametrize(
    "params",
    [{"api_key": "abc"}, {"x": {"auth_token": "abc"}}, {"url": "https://me:pw@host/"}, {"m": ["sk-" + "a" * 20]}],
)
def test_a_secret_is_refused_and_not_repeated(params: dict[str, object]):
    with pytest.raises(UserError, match="looks like a secret") as caught:
        StrategySpec.model_validate({"name": "tests.core.toy:Proposer", "params": params}).build()
    assert "abc" not in str(caught.value)
    assert "pw" not in str(caught.value)


def test_what_only_sounds_like_a_secret_is_not_refused():
    spec = StrategySpec.parse("tests.core.players:NeedsModel:max_tokens=5,api_key_env=MY_KEY")
    with pytest.raises(UserError, match="is not a known key"):
        spec.build()


def test_a_strategy_is_shown_without_its_folder_and_without_where_its_model_is_reached() -> None:
    full = "llm:model=openai:a,base_url=http://127.0.0.1:1/v1,temperature=0.5,reflect=true"
    assert short_names([full, "imap", "/some/mine.py:Own:k=a/b"]) == {
        full: "llm:model=openai:a,temperature=0.5",
        "imap": "imap",
        "/some/mine.py:Own:k=a/b": "mine.py:Own:k=a/b",
    }


def test_strategies_that_would_share_a_short_name_keep_their_own() -> None:
    one, two = "llm:model=openai:a,base_url=http://x/v1", "llm:model=openai:a,base_url=http://y/v1"
    assert short_names([one, two, one]) == {one: one, two: two}
