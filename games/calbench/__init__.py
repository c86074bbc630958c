"""CalBench: assistants with private calendars schedule a stream of meetings."""

from games.calbench.actions import Reschedule, Schedule
from games.calbench.game import CalBench, CalBenchRules
from games.calbench.observation import CalendarObservation
from games.calbench.scenario import Scenario

__all__ = ["CalBench", "CalBenchRules", "CalendarObservation", "Reschedule", "Schedule", "Scenario"]
