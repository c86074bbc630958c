"""What all tests share: how long an example takes is not asserted, for machines differ."""

from hypothesis import settings

settings.register_profile("cheaptalk", deadline=None)
settings.load_profile("cheaptalk")
