"""What is read of damaged files is used without a fault; more cases: tests/damage.py."""

import pytest

from tests.damage import tried

FAILED = [
    ("decisions", 1150),
    ("plans", 1146),
    ("plans", 2068),
    ("surfaces", 144),
    ("surfaces", 420),
    ("surfaces", 2093),
]
CASES = {"plans": 25, "decisions": 40, "speeds": 25, "surfaces": 25}


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES)
def test_what_is_read_can_be_used(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    assert tried(kind, range(CASES[kind]), tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "number"), FAILED)
def test_what_once_failed(tmp_path, monkeypatch, kind, number):
    monkeypatch.chdir(tmp_path)
    assert tried(kind, [number], tmp_path) == {}
