"""Text as it is shown: marks as escapes, quotations cut."""

import pytest

from evener.wording import printable, shortened, without_marks


@pytest.mark.parametrize(
    "mark", [*"\x00\x07\x1b\x7f\x9b\u200e\u200f\u061c\u2028\u202e\u2066\u2069"]
)
def test_marks_are_shown_as_escapes(mark):
    shown = mark.encode("unicode_escape").decode()
    assert printable(f"a{mark}b") == without_marks(f"a{mark}b") == f"a{shown}b"
    assert printable(printable(f"a{mark}b")) == f"a{shown}b"


def test_what_is_seen_as_itself_is_left_alone():
    assert printable("gpu0 é 日本 µs\n", "\n") == "gpu0 é 日本 µs\n"
    assert printable("\ud800") == "\\ud800"
    assert without_marks("a\n\tb\u00a0c\u2009d") == "a\n\tb\u00a0c\u2009d"


def test_quotations_are_cut_and_apostrophes_are_not():
    long = "x" * 100
    for text in (
        f"no '{long}' here",
        f'no "{long}" here',
        f"no b'{long}' here",
        f"no `{long}` here",
    ):
        assert shortened(text, 400).count("x") == 57
        assert shortened(text, 400).endswith(" here")
    plain = "the plan's own machine, whose devices are not those of the machine's file, nor its own"
    assert shortened(plain, 400) == plain
    assert shortened("a\nb", 400) == "a b"
    assert len(shortened("y " * 5000, 400)) == 400
