"""What a conformance kit hands back."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Check", "Report"]


@dataclass(frozen=True, slots=True)
class Check:
    """One promise that was put to the test.

    Attributes:
        name: The promise, as a short sentence.
        passed: Whether it held.
        detail: What broke it, with the place and the remedy; where it held, a note at most.
    """

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What the kit found.

    Attributes:
        subject: What was checked.
        checks: All checks, in the order in which they were made.
    """

    subject: str
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that did not pass."""
        return tuple(check for check in self.checks if not check.passed)

    def raise_if_failed(self) -> None:
        """Fail a test.

        Raises:
            AssertionError: If a check did not pass; the message lists each of them with its detail.
        """
        if not self.ok:
            lines = (f"- {check.name}: {check.detail}" for check in self.failures)
            raise AssertionError("\n".join([f"{self.subject} breaks {len(self.failures)} promise(s)", *lines]))

    def __str__(self) -> str:
        lines = (
            f"{'pass' if c.passed else 'FAIL'}  {c.name}{f': {c.detail}' if c.detail else ''}" for c in self.checks
        )
        return "\n".join([self.subject, *lines])
