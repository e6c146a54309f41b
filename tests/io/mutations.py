"""Files gone wrong: bytes flipped, cut, repeated, numbers replaced by others, lines swapped."""

import re

from hypothesis import strategies as st

NUMBERS = (
    *(b"0", b"1", b"-1", b"7", b"00", b"0.5", b"-0.0", b"nan", b"-inf", b"1e999", b"1d400"),
    *(b"2147483648", b"4294967296", b"1000000000000000000", b"9223372036854775807"),
    *(b"9223372036854775808", b"18446744073709551617", b"1" * 400, b"", b"x", b"1,2", b"\xff"),
)

_ACTIONS = st.sampled_from(["flip", "cut", "repeat", "insert", "stop", "number", "swap", "drop"])


@st.composite
def mutated(draw, content):
    """`content` after one to four accidents."""
    for _ in range(draw(st.integers(1, 4))):
        content = _after(draw, content, draw(_ACTIONS))
    return content


def _after(draw, content, action):
    if not content:
        return draw(st.binary(max_size=20))
    at = draw(st.integers(0, len(content) - 1))
    length = draw(st.integers(1, 12))
    if action == "flip":
        return content[:at] + bytes([draw(st.integers(0, 255))]) + content[at + 1 :]
    if action == "cut":
        return content[:at] + content[at + length :]
    if action == "repeat":
        return content[: at + length] + content[at:]
    if action == "insert":
        return content[:at] + draw(st.binary(min_size=1, max_size=12)) + content[at:]
    if action == "stop":
        return content[:at]
    if action == "number":
        return _with_other_number(draw, content)
    lines = content.split(b"\n")
    i, j = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    if action == "swap":
        lines[i], lines[j] = lines[j], lines[i]
    else:
        del lines[i]
    return b"\n".join(lines)


def _with_other_number(draw, content):
    numbers = list(re.finditer(rb"\d+(\.\d+)?", content))
    if not numbers:
        return content
    found = draw(st.sampled_from(numbers))
    return content[: found.start()] + draw(st.sampled_from(NUMBERS)) + content[found.end() :]
