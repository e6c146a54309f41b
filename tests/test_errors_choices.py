"""Names among which one chooses: the nearest is named, and all there are."""

import pytest

from evener.errors import UsageError, one_of

KNOWN = ("fast", "default", "strong")


def test_a_name_that_exists_is_returned():
    assert one_of("preset", "strong", KNOWN) == "strong"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("stong", "there is no preset 'stong'; did you mean strong?"),
        ("Strong", "there is no preset 'Strong'; did you mean strong?"),
        ("zzz", "there is no preset 'zzz'"),
        (None, "there is no preset None"),
        (["fast"], "there is no preset ['fast']"),
    ],
)
def test_others_are_refused_with_what_there_is(value, message):
    with pytest.raises(UsageError) as caught:
        one_of("preset", value, KNOWN)
    assert caught.value.message == message
    assert caught.value.hint == "There are: fast, default, strong."


def test_what_is_long_is_cut():
    with pytest.raises(UsageError) as caught:
        one_of("preset", "x" * 10_000, KNOWN)
    assert len(str(caught.value)) < 120
    assert f"'{39 * 'x'}...'" in str(caught.value)
