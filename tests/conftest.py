"""What all tests share: no example is timed, for machines differ, and a file that one loads is not another's module."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.modules import forget_temporary_modules

settings.register_profile("cheaptalk", deadline=None)
settings.load_profile("cheaptalk")


@pytest.fixture(autouse=True)
def _own_modules() -> Iterator[None]:
    paths = list(sys.path)
    yield
    sys.path[:] = paths
    forget_temporary_modules()
