"""Vertex programs: which schedule they get, and what is refused, with file and line."""

import math

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.running.engine import VertexProgram


def zero(vertex):
    return 0


def line_of(function):
    return function.__code__.co_firstlineno


def test_the_schedule_follows_from_the_traits():
    assert VertexProgram(init=zero).schedule == "dense"
    assert VertexProgram(init=zero, combine="min").schedule == "frontier"
    assert (
        VertexProgram(init=zero, combine="min", priority=lambda value: value).schedule == "bucket"
    )
    assert VertexProgram(union=True, combine="min", dtype="uint32").schedule == "union"
    given = VertexProgram(init=zero, combine="max", schedule="dense")
    assert given.schedule == "dense"


def test_arguments_are_taken_by_name():
    def along(payload, weight, scale):
        return payload + weight * scale

    program = VertexProgram(init=zero, along=along, parameters={"scale": 2.0})
    assert program.is_weighted
    assert program.given({}) == (2.0,)
    assert program.given({"scale": 3}) == (3.0,)


def test_an_unknown_argument_is_refused_with_its_place():
    def emit(value_):
        return value_

    with pytest.raises(
        InputError, match=r"emit\(\) has the argument value_.*did you mean value"
    ) as caught:
        VertexProgram(init=zero, emit=emit)
    assert caught.value.file == __file__
    assert caught.value.line == line_of(emit)
    assert "degree" in caught.value.hint


def halting(change):
    return change < 1


REFUSED = {
    "no function init": {"combine": "sum"},
    "takes \\*values": {"init": zero, "emit": lambda *values: 0},
    "not sum": {"init": zero, "schedule": "frontier"},
    "union schedule needs": {"union": True, "combine": "max", "dtype": "uint32"},
    "needs a function priority": {"init": zero, "combine": "min", "schedule": "bucket"},
    "must be integers": {"init": zero, "combine": "or", "dtype": "float32"},
    "works only with the dense schedule": {
        "init": zero, "halt": halting, "combine": "min", "schedule": "frontier",
    },
    "not a Python function": {"init": np.sqrt},
    "is not a number": {"init": zero, "parameters": {"scale": "2"}},
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_does_not_fit_is_refused(message):
    with pytest.raises(InputError, match=message):
        VertexProgram(**REFUSED[message])


@pytest.mark.parametrize("wrong", [{"combine": "mean"}, {"dtype": "int8"}, {"schedule": "fast"},
                                   {"direction": "in"}])  # fmt: skip
def test_unknown_choices_are_named(wrong):
    with pytest.raises(UsageError, match="there is no"):
        VertexProgram(init=zero, **wrong)


def test_unknown_parameters_are_refused():
    program = VertexProgram(init=zero, parameters={"source": 0}, name="walk")
    with pytest.raises(InputError, match="walk has no parameter sources; did you mean source"):
        program.given({"sources": 1})
    for value in (1.5, math.inf, math.nan, 1e300):
        with pytest.raises(InputError, match="source must be an integer"):
            program.given({"source": value})


FILE = """
combine = "min"
dtype = "int32"
parameters = {"source": 0}

def init(vertex, source, infinity):
    return 0 if vertex == source else infinity

def along(payload):
    return payload + 1
"""


def test_a_file_holds_a_program(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    program = VertexProgram.from_file(path)
    assert (program.name, program.schedule, set(program.functions)) == (
        "mine", "frontier", {"init", "along"},
    )  # fmt: skip
    path.write_text("from evener.running.apps.pagerank import PROGRAM\n")
    assert VertexProgram.from_file(path).name == "pagerank"


def test_errors_of_a_file_name_it(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE.replace("along(payload)", "along(payload, width)"))
    with pytest.raises(InputError, match=r"has the argument width") as caught:
        VertexProgram.from_file(path)
    assert (caught.value.file, caught.value.line) == (str(path), 9)
    assert 'parameters = {"width": 0}' in caught.value.hint
    path.write_text("combine = 'min'\n\n1 / 0\n")
    with pytest.raises(InputError, match="ZeroDivisionError") as caught:
        VertexProgram.from_file(path)
    assert caught.value.line == 3
    path.write_text(
        "import sys\nsys.exit(7)  # of another length, or its bytecode is taken for that above\n"
    )
    with pytest.raises(InputError, match="SystemExit: 7") as caught:
        VertexProgram.from_file(path)
    assert caught.value.line == 2
    path.write_text("combine = (\n")
    with pytest.raises(InputError, match="SyntaxError") as caught:
        VertexProgram.from_file(path)
    assert caught.value.line == 1
    with pytest.raises(InputError, match="cannot be read"):
        VertexProgram.from_file(tmp_path / "none.py")
    with pytest.raises(InputError, match="a Python file"):
        VertexProgram.from_file(tmp_path / "none.txt")
