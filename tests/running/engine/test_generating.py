"""Modules made for programs: named by what they depend on; errors of user functions have places."""

import os
from types import FunctionType

import numpy as np
import pytest

from evener.errors import InputError
from evener.running.engine import VertexProgram, run_on
from evener.running.engine.generating import ENDING, digest_of, module_of, remove_oldest
from tests.assertions import printed_by
from tests.running.engine.parts import random_graph, whole

SCALE = 2.0
TABLE = [1, 2]


def init(vertex):
    return 1.0


def test_equal_programs_share_a_module_and_others_do_not():
    def program(scale):
        return VertexProgram(init=init, along=lambda payload: payload * scale)

    assert module_of(program(2.0)) is module_of(program(2.0))
    assert module_of(program(2.0)) is not module_of(program(3.0))
    assert module_of(program(2.0)) is not module_of(VertexProgram(init=init))
    doubled = VertexProgram(init=init, dtype="float64", along=lambda payload: payload * SCALE)
    assert module_of(doubled) is not module_of(program(2.0))


def test_functions_of_another_module_are_compiled_for_themselves():
    """Machine code asks for the module of a function when another process loads it."""
    moved = FunctionType(init.__code__, globals())
    moved.__module__ = "json"
    made = [module_of(VertexProgram(init=one)) for one in (init, moved)]
    assert made[0] is not made[1]
    assert digest_of(VertexProgram(init=init)) == digest_of(VertexProgram(init=moved))


def test_only_numbers_functions_and_modules_may_be_used():
    def emit(value):
        return value * TABLE[0]

    with pytest.raises(InputError, match=r"emit\(\) uses TABLE, which is of type list") as caught:
        module_of(VertexProgram(init=init, emit=emit))
    assert caught.value.line == emit.__code__.co_firstlineno


def test_what_does_not_compile_is_refused_with_function_and_line():
    def apply(old, combined):
        changed = combined
        return changed.upper()

    program = VertexProgram(init=init, apply=apply, name="loud")
    with pytest.raises(InputError, match=r"loud: apply\(\) does not compile: .*upper") as caught:
        run_on(program, whole(random_graph(3, 5)))
    assert caught.value.file == __file__
    assert caught.value.line == apply.__code__.co_firstlineno + 2


def test_a_function_that_returns_no_number_is_refused():
    def emit(value):
        return value, value

    with pytest.raises(InputError, match=r"emit\(\) does not compile") as caught:
        run_on(VertexProgram(init=init, emit=emit), whole(random_graph(3, 5)))
    assert caught.value.line == emit.__code__.co_firstlineno


SECOND = """
import numpy as np
from numba.core import event
from evener.running.apps.pagerank import PROGRAM
from evener.running.engine import run_on
from tests.running.engine.parts import random_graph, whole

class Listener(event.Listener):
    def on_start(self, told):
        print("compiled", told.data["dispatcher"].py_func.__name__)
    def on_end(self, told):
        pass

event.register("numba:compile", Listener())
print(run_on(PROGRAM, part, 1, 3).supersteps) if (part := whole(random_graph(20, 50))) else None
"""


def test_a_second_process_compiles_nothing():
    from evener.running.apps.pagerank import PROGRAM

    run_on(PROGRAM, whole(random_graph(20, 50)), 1, 3)
    found = printed_by(SECOND)
    assert "compiled run" not in found
    assert found.split()[-1] == "3"
    assert np.isfinite(SCALE)


def test_the_programs_used_longest_ago_are_removed_with_their_machine_code(tmp_path):
    (tmp_path / "__pycache__").mkdir()
    for age in range(5):
        program = tmp_path / f"p{age}{ENDING}"
        program.write_text("")
        os.utime(program, (1e9 - age, 1e9 - age))
        (tmp_path / "__pycache__" / f"p{age}.run-1.py311.0.nbc").write_text("")
    remove_oldest(tmp_path, 2)
    assert sorted(path.name for path in tmp_path.glob("*.*")) == [f"p0{ENDING}", f"p1{ENDING}"]
    left = sorted(path.name[:2] for path in (tmp_path / "__pycache__").iterdir())
    assert left == ["p0", "p1"]


def test_nothing_is_removed_where_there_are_few(tmp_path):
    (tmp_path / f"p{ENDING}").write_text("")
    remove_oldest(tmp_path, 1)
    assert (tmp_path / f"p{ENDING}").exists()
