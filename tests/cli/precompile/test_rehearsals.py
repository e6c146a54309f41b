"""What was rehearsed has nothing left to compile."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_plans_and_files_meet_no_type_that_was_not_rehearsed():
    """In a process of its own: in this one other tests have called kernels, with other types."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.cli.precompile.rehearsed"],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["new"] == {}
    assert found["idle"] == [], "kernels that no rehearsal calls"
