"""EAST: Schelling words under epistemic asymmetry (arXiv 2607.11363)."""

from games.east.conditions import BEYOND, CONDITIONS, Condition
from games.east.game import East
from games.east.observation import Choose, EastObservation
from games.east.outcome import CHANCE, EastOutcome, outcome_of
from games.east.rules import EastRules
from games.east.scenario import PAPER, PROMPTS, ROLES, Scenario, Vignette, Words, vignette

__all__ = [
    "BEYOND",
    "CHANCE",
    "CONDITIONS",
    "Choose",
    "Condition",
    "East",
    "EastObservation",
    "EastOutcome",
    "EastRules",
    "PAPER",
    "PROMPTS",
    "ROLES",
    "Scenario",
    "Vignette",
    "Words",
    "outcome_of",
    "vignette",
]
