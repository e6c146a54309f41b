"""Freed arrays: given back at once, where that is asked for."""

import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np, psutil
from evener.sliced.allocation import give_back_freed

give_back_freed()
big = np.ones(1 << 21)  # a first large array that is freed raises glibc's limit
del big
kept, freed = [], []
for _ in range(64):
    freed.append(np.ones(1 << 17))
    kept.append(np.ones(1 << 10))
before = psutil.Process().memory_info().rss
freed.clear()
print(before - psutil.Process().memory_info().rss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other C libraries are left as they are")
def test_freed_arrays_between_kept_ones_are_given_back():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 60 << 20  # of 64 MiB
