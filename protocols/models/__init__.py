"""Language models: which one, and how it is called.

| module | what lives there |
| --- | --- |
| `spec` | the short form of a model, providers, keys |
| `settings` | limits, retries, cache and budget, from the environment |
| `clients`, `local` | AutoGen's clients; the packaged model |
| `calls`, `cache`, `budget`, `prices` | one call and all that surrounds it |
| `completion`, `schema` | what goes in and what comes out |
"""

from protocols.models.calls import Model, check_price, model_of, open_model
from protocols.models.completion import Ask, Completion, Token, Tokens
from protocols.models.settings import Budget, Settings, set_in_environment
from protocols.models.spec import PROVIDERS, ModelSpec

__all__ = [
    "PROVIDERS",
    "Ask",
    "Budget",
    "Completion",
    "Model",
    "ModelSpec",
    "Settings",
    "Token",
    "Tokens",
    "check_price",
    "model_of",
    "open_model",
    "set_in_environment",
]
