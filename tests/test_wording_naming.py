"""Many names in few words."""

import pytest

from evener.wording import ranges


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["gpu0"], "gpu0"),
        (["cpu0", "cpu1", "cpu2"], "cpu0..cpu2"),
        (["gpu0", "cpu0", "gpu1", "cpu1"], "gpu0, gpu1, cpu0 and cpu1"),
        (["a1", "a3", "b"], "a1, a3 and b"),
        (["a1", "a3", "a5", "a7", "a8"], "a1, a3 and 3 more"),
        (["x\x1b"], "x\\x1b"),
    ],
)
def test_ranges(names, said):
    assert ranges(names, 2 if "more" in said else 6) == said
