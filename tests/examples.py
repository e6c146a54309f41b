"""How many examples property tests try: all of them, or a quarter for a quick look.

EVENER_EXAMPLES=quick, as `make test-fast` sets it, is the quick look.
"""

import os

from hypothesis import settings

QUICK_SHARE = 4 if os.environ.get("EVENER_EXAMPLES") == "quick" else 1
USUAL = 100 // QUICK_SHARE  # of tests that do not say how many


def with_examples(number, **others):
    """Return the settings of a property test that tries so many examples."""
    return settings(max_examples=number // QUICK_SHARE, **others)


def seeds(number):
    """Return the seeds of a test that is run for each of them: all, or the first quarter."""
    return range(number // QUICK_SHARE)
