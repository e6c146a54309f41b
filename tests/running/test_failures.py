"""Failures of ranks: what they are called."""

from evener.errors import UsageError
from evener.running.failures import Names


def test_errors_that_were_not_raised_on_purpose_name_the_device():
    names = Names(("cpu", "gpu"))
    assert str(names.failed(1, ValueError("no"))) == "rank 1 (gpu) failed: ValueError: no"
    assert "rank 0 (cpu) has run out of memory" in str(names.failed(0, MemoryError("3 GiB")))
    assert names.of(7) == "rank 7"
    own = UsageError("as it is")
    assert names.failed(1, own) is own
