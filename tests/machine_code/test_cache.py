"""Where kernels' machine code is kept, and when what is found there counts."""

import pickle
from pathlib import Path
from weakref import WeakValueDictionary

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.environment import Environment
from numba.core.registry import cpu_target

from evener.machine_code import cache
from evener.machine_code.cache import read_file, stamp
from evener.partitioning.refinement import fm_kernels, volumes_kernels
from tests.assertions import printed_by, run_python
from tests.machine_code.conftest import n_compiled

WHOLE, REAL = np.array([1, 2]), np.array([1.5, 2.0])


def test_another_process_finds_what_one_compiled(toys):
    first = toys.imported()
    assert first.twice(WHOLE) == 6
    assert n_compiled(first.twice) == n_compiled(first.sum_of) == 1
    again = toys.imported()
    assert again.twice(WHOLE) == 6
    assert n_compiled(again.twice) == n_compiled(again.sum_of) == 0
    assert [Path(path) in toys.files() for path in cache.USED.values()] == [True]
    again.twice._cache.flush()
    assert [path.name.split("-")[0] for path in toys.files()] == ["toy_kernels.sum_of"]


def test_types_are_kept_side_by_side(toys):
    one, other = toys.imported(), toys.imported()
    assert one.sum_of(WHOLE) == 3
    assert other.sum_of(REAL) == 3.5
    assert len(toys.files()) == 2
    again = toys.imported()
    assert (again.sum_of(REAL), again.sum_of(WHOLE)) == (3.5, 3)
    assert n_compiled(again.sum_of) == 0
    again.sum_of(REAL > 0)
    assert n_compiled(again.sum_of) == 1


def test_settings_that_change_machine_code_have_their_own_files(toys, monkeypatch):
    """Kernels compiled without bounds checks are not loaded where they are asked for."""
    assert toys.imported().sum_of(WHOLE) == 3
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    checked = toys.imported()
    assert checked.sum_of(WHOLE) == 3
    assert n_compiled(checked.sum_of) == 1
    assert len(toys.files()) == 2
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    plain = toys.imported()
    assert plain.sum_of(WHOLE) == 3
    assert n_compiled(plain.sum_of) == 0


def test_what_other_sources_made_is_replaced(toys):
    assert toys.imported().twice(WHOLE) == 6
    toys.write(total="values.sum() + 1")
    changed = toys.imported()
    assert changed.twice(WHOLE) == 8
    assert n_compiled(changed.twice) == 1
    assert len([path for path in toys.files() if "twice" in path.name]) == 1


def test_a_kernel_from_the_cache_is_put_into_a_new_caller(toys):
    """Its bitcode is read for that, and at no other time."""
    toys.imported().twice(WHOLE)
    more = toys.imported("more_kernels")
    assert more.thrice(WHOLE) == 9
    assert (n_compiled(more.thrice), n_compiled(more.sum_of)) == (1, 0)
    again = toys.imported("more_kernels")
    assert again.thrice(WHOLE) == 9
    assert n_compiled(again.thrice) == 0


def test_where_no_folder_can_be_written_only_what_is_to_be_compiled_fails(toys, monkeypatch):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    kernels = toys.imported()  # decorated, and no folder looked for
    with pytest.raises(RuntimeError, match="no locator available"):
        kernels.sum_of(WHOLE)


def test_where_no_folder_can_be_written_a_command_says_so(tmp_path):
    code = (
        "import sys; from numba.core.caching import CacheImpl; CacheImpl._locator_classes = [];"
        "from evener.cli import main; sys.exit(main(['info', 'path.graph']))"
    )
    (tmp_path / "path.graph").write_text("3 2\n2\n1 3\n2\n")
    ended = run_python("-c", code, cwd=tmp_path, EVENER_PACKS="no")
    assert ended.returncode == 2
    assert "no folder for compiled kernels can be written" in ended.stderr


def test_the_stamp_names_kernels_inside(monkeypatch):
    """The search for volumes has functions of the FM kernels inlined; both have options of jit."""
    name, source = volumes_kernels.__name__, cache._source
    of = stamp.__wrapped__
    before = of(name)
    for changed, matters in (
        ("evener.partitioning.refinement.fm_kernels", True),
        ("evener.jit", True),
        ("evener.graphs.graph_kernels", False),
        ("evener.machine_code.cache", False),
    ):
        monkeypatch.setattr(cache, "_source", lambda m, c=changed: source(m) + b"\n#" * (m == c))
        assert (of(name) != before) == matters
        monkeypatch.undo()


def test_a_file_counts_only_for_what_it_was_made(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(pickle.dumps(("1", "sources")) + pickle.dumps(b"data") + b"bitcode")
    data, bitcode, _ = read_file(path, ("1", "sources"))
    assert (data, bitcode()) == (b"data", b"bitcode")
    assert read_file(path, ("2", "sources")) is None


@pytest.mark.slow
def test_a_plan_from_the_cache_imports_no_half_of_scipy(tmp_path, grid_plan):
    """Tables of what Numba can compile, and what its functions are made with, are not needed."""
    code = (
        "import sys; from evener.cli import main; code = main(sys.argv[1:]);"
        "print({'scipy.linalg', 'scipy.sparse', 'numba.np.npyimpl'} & set(sys.modules));"
        "sys.exit(code)"
    )
    for _ in range(2):  # the first may compile
        imported = printed_by(code, *grid_plan, "--quiet")
        if imported == "set()\n":
            break
    assert imported == "set()\n"


REBUILT_FROM = (
    "target_context", "libdata", "fndesc", "env", "signature", "objectmode", "lifted", "typeann",
    "reload_init", "referenced_envs",
)  # fmt: skip
PRIVATE = {
    "a dispatcher no longer looks for compiled code in its attribute _cache": (
        lambda kernel: (
            sum(kernel.stats.cache_hits.values()) + sum(kernel.stats.cache_misses.values()) > 0
        )
    ),
    "compiled code is not saved where KernelCache looks for it": (
        lambda kernel: any(
            name.startswith(f"{kernel.py_func.__module__}.shuffle.") and Path(path).is_file()
            for name, path in cache.USED.items()
        )
    ),
    "a CompileResult is no longer rebuilt from a library, what describes it, ..., an annotation": (
        lambda _: CompileResult._rebuild.__func__.__code__.co_varnames[1:11] == REBUILT_FROM
    ),
    "a library no longer gives bitcode by _get_module_for_linking": (
        lambda _: hasattr(JITCodeLibrary, "_get_module_for_linking")
    ),
    "an engine no longer knows symbols by _defined_symbols": (
        lambda _: isinstance(cpu_target.target_context.codegen()._engine._defined_symbols, set)
    ),
    "environments are no longer kept in Environment._memo": (
        lambda _: isinstance(Environment._memo, WeakValueDictionary)
    ),
}


@pytest.mark.parametrize("broken", PRIVATE)
def test_what_numba_does_not_document_is_as_the_cache_needs_it(broken):
    fm_kernels.shuffle(np.arange(5), np.uint64(1))
    assert PRIVATE[broken](fm_kernels.shuffle), f"{broken}: adapt machine_code/cache.py"
