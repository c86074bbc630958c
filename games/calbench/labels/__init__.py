"""Private labels: what errands and meetings are about, and who may read it (CalBench paper, A.1).

A label says what an appointment is. A seat reads the labels of its own errands and of the meetings it
takes part in, and nobody else's. The tier of a label never reaches a seat; it is for the audit of leaks.
"""

from games.calbench.labels.assignment import Assignment, assign
from games.calbench.labels.bank import Bank, Kind, Label, Tier, bank

__all__ = ["Assignment", "Bank", "Kind", "Label", "Tier", "assign", "bank"]
