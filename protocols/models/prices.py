"""What tokens cost, in US dollars a million. Prices change: check them, or give a table of your own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from framework.errors import UserError
from framework.messages import Frozen
from framework.yamlfile import read_mapping
from protocols.models.completion import Tokens
from protocols.models.spec import ModelSpec

__all__ = ["PRICES", "Price", "price_of", "read_prices"]


_Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Frozen):
    """US dollars a million tokens.

    Attributes:
        input: For tokens that the model reads.
        output: For tokens that it writes.
    """

    input: _Dollars
    output: _Dollars

    def of(self, tokens: Tokens) -> float:
        """What a call cost."""
        return (tokens.prompt * self.input + tokens.completion * self.output) / 1e6


FREE = Price(input=0.0, output=0.0)
PRICES: Mapping[str, Price] = {
    "openai:gpt-5": Price(input=1.25, output=10.0),
    "openai:gpt-5-mini": Price(input=0.25, output=2.0),
    "openai:gpt-5-nano": Price(input=0.05, output=0.4),
    "openai:gpt-4.1": Price(input=2.0, output=8.0),
    "openai:gpt-4.1-mini": Price(input=0.4, output=1.6),
    "openai:gpt-4.1-nano": Price(input=0.1, output=0.4),
    "openai:gpt-4o": Price(input=2.5, output=10.0),
    "openai:gpt-4o-mini": Price(input=0.15, output=0.6),
    "anthropic:claude-opus-4-1": Price(input=15.0, output=75.0),
    "anthropic:claude-sonnet-4-5": Price(input=3.0, output=15.0),
    "anthropic:claude-haiku-4-5": Price(input=1.0, output=5.0),
}
"""List prices by the short form of a model, as of late 2025, without discounts for cached or batched input."""

_TABLE = TypeAdapter(dict[str, Price])


@cache
def read_prices(path: Path) -> Mapping[str, Price]:
    """The table in a file.

    Raises:
        UserError: If it is none.
    """
    example = "write lines such as 'openai:gpt-5-mini: {input: 0.25, output: 2}'"
    data = read_mapping(path, f"it is not a table of prices; {example}", f"prices {path}")
    try:
        return _TABLE.validate_python(data)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise UserError(f"prices {path}: {place!r} is not a price; {example}") from error


def price_of(spec: ModelSpec, table: Path | None = None) -> Price | None:
    """The price of a model; None if it is not known.

    Args:
        spec: The model. One that runs at home costs nothing; one behind a `base_url` has no known price
            unless the table gives one.
        table: A YAML file of prices that take the place of the shipped ones.

    Raises:
        UserError: If the file is not a table of prices.
    """
    own = read_prices(table) if table is not None else {}
    if spec.label in own:
        return own[spec.label]
    if spec.provider in ("local", "ollama", "replay"):
        return FREE
    return None if spec.base_url else PRICES.get(spec.label)
