"""Exit codes and the one to three lines that an error is."""

import pytest

from evener.errors import (
    EvenerError,
    InfeasibleError,
    InputError,
    NotFoundError,
    ToolError,
    UsageError,
)


@pytest.mark.parametrize(
    ("kind", "code"),
    [(UsageError, 2), (InputError, 3), (InfeasibleError, 4), (NotFoundError, 4), (ToolError, 5)],
)
def test_exit_codes(kind, code):
    assert kind("x").exit_code == code
    assert issubclass(kind, EvenerError)


def test_not_found_is_infeasible():
    assert issubclass(NotFoundError, InfeasibleError)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ({}, "wrong"),
        ({"file": "a.graph"}, "a.graph: wrong"),
        ({"file": "a.graph", "line": 3}, "a.graph:3: wrong"),
        ({"line": 3}, "wrong"),
        ({"hint": "Mend it."}, "wrong\nMend it."),
        ({"file": "a", "line": 1, "hint": "Mend it."}, "a:1: wrong\nMend it."),
    ],
)
def test_what_where_what_to_do(place, text):
    assert str(InputError("wrong", **place)) == text


def test_errors_are_short_and_printable_whatever_they_quote():
    wild = "\x1b[2J\u202e\n" * 500
    error = InputError(f"no device {wild!r}: {wild}", file=f"/x/{wild}", line=7, hint=f"Not {wild}")
    lines = str(error).split("\n")
    assert len(lines) == 2
    assert all(len(line) < 750 and line.isprintable() for line in lines)
    assert error.file.startswith("/x/\x1b")
    assert lines[0].count(":7: ") == 1
    assert str(InputError(error.message)) == error.message
