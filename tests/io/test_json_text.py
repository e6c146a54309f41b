"""JSON that can be written again, or a ValueError."""

import json

import pytest

from evener.io.json_text import loads


@pytest.mark.parametrize(
    "value", [{"a": [1, 2.5, None]}, "\U0001f600 \\ud800", [], "é", {"\n": "\x1b"}]
)
def test_what_json_writes_is_read(value):
    for ascii_only in (True, False):
        text = json.dumps(value, ensure_ascii=ascii_only)
        assert loads(text) == loads(text.encode()) == value


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (r'"\ud800"', "a text with an unpaired surrogate"),
        (r'{"\uDFFF x": 1}', "a text with an unpaired surrogate"),
        (b'["a", "\\udabc"]', "a text with an unpaired surrogate"),
        ("[" * 100_000, "too deeply"),
        ("{", "Expecting"),
        (b"\xff", "decode"),
        ("1" * 5000, "digits"),
    ],
)
def test_refused(content, words):
    with pytest.raises(ValueError, match=words):
        loads(content)
