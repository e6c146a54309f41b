"""Packs are taken where they fit, never where they do not, and it is said why."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.registry import cpu_target

from evener.cli.precompile.precompile import write_pack
from evener.machine_code import cache, packs
from evener.machine_code.packs import DamagedPackError, OthersPackError, Pack
from tests.assertions import run_python
from tests.machine_code.conftest import n_compiled

WHOLE = np.array([1, 2])
HERE = packs.made_here(("linux", "thisone", "+avx"))


@pytest.fixture
def pack(toys):
    """A pack of both kernels, for this processor, where wheels have theirs; and no other files."""
    toys.imported().twice(WHOLE)
    packs.FOLDER.mkdir()
    path = write_pack(packs.FOLDER, cache.USED)
    toys.keep_in(toys.folder / "empty")
    return path


def first_why():
    return next(iter(packs.why_compiled()), "")


def answer_and_why(toys):
    """What `twice` returns in a new process, how many kernels that compiled, and why."""
    kernels = toys.imported()
    answer = kernels.twice(WHOLE)
    return answer, n_compiled(kernels.twice) + n_compiled(kernels.sum_of), first_why()


def test_kernels_come_from_the_pack(toys, pack):
    assert answer_and_why(toys) == (6, 0, "")
    assert set(cache.USED.values()) == {str(pack)}
    assert list((toys.folder / "empty").rglob("*.nbc")) == []


def test_and_from_the_users_folder(toys, pack, monkeypatch):
    monkeypatch.setattr(packs, "users_folder", lambda: pack.parent)
    monkeypatch.setattr(packs, "FOLDER", toys.folder / "none")
    assert answer_and_why(toys) == (6, 0, "")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)  # whose folder it is not
    assert answer_and_why(toys)[1:] == (2, "")


def test_where_nothing_can_be_written_they_run(toys, pack, monkeypatch):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    assert answer_and_why(toys) == (6, 0, "")


def test_a_pack_is_made_from_another_as_well(toys, pack):
    whole = pack.read_bytes()
    toys.imported().twice(WHOLE)
    toys.imported().sum_of(WHOLE)
    with_types = toys.imported()
    with_types.twice(WHOLE)
    with_types.sum_of(WHOLE)
    assert write_pack(toys.folder, cache.USED).read_bytes() == whole
    with_types.sum_of(WHOLE / 2)  # in a file of its own
    more = Pack(write_pack(toys.folder, cache.USED))
    assert len(more._places) == 3
    data, bitcode, _ = more.load(name := sorted(cache.USED)[0], more.stamp_of(name))
    assert len(data) > 100
    assert bitcode().startswith(b"BC")


def test_own_files_are_taken_first(toys, pack):
    toys.keep_in(toys.kept)
    assert answer_and_why(toys) == (6, 0, "")
    assert [Path(path) in toys.files() for path in cache.USED.values()] == [True]


def test_changed_sources(toys, pack):
    toys.write(twice="4 * sum_of(values)")
    answer, count, why = answer_and_why(toys)
    assert (answer, count) == (12, 2)  # both are of one file
    assert why == "sources of kernels have changed since the pack was made"


def test_other_types(toys, pack):
    kernels = toys.imported()
    assert kernels.sum_of(np.array([1.5])) == 1.5
    assert first_why() == "no kernel in the pack was compiled for these types of arguments"


def test_programs_of_users_are_in_no_pack(toys, pack):
    """They are compiled as usual, which needs no explanation."""
    toys.imported("more_kernels").thrice(WHOLE)
    assert first_why() == ""


def test_a_kernel_from_a_pack_is_put_into_a_new_caller(toys, pack):
    more = toys.imported("more_kernels")
    assert more.thrice(WHOLE) == 9
    assert (n_compiled(more.thrice), n_compiled(more.sum_of)) == (1, 0)


@pytest.mark.parametrize("kept", [0, 10, 60, 3000, -1])
def test_cut_short(toys, pack, kept):
    pack.write_bytes(pack.read_bytes()[:kept])
    answer, count, why = answer_and_why(toys)
    assert (answer, count) == (6, 2)
    assert why.startswith(str(pack))
    assert why.endswith("install Evener again")


def test_garbage_anywhere(toys, pack):
    """In the head, the table, and a kernel's place; never read, and never run."""
    whole = pack.read_bytes()
    start = len(whole) - Pack(pack)._body.nbytes
    kernel = next(place for name, place in Pack(pack)._places.items() if "twice" in name)
    for place in (3, 30, start // 2, start + kernel.begin + 200):
        toys.keep_in(toys.folder / f"empty{place}")
        pack.write_bytes(whole[:place] + b"garbage" + whole[place + 7 :])
        answer, _, why = answer_and_why(toys)
        assert answer == 6, place
        assert why == f"{pack} is damaged: install Evener again", place
    pack.write_bytes(b"\0" * len(whole))
    with pytest.raises(DamagedPackError):
        Pack(pack)


def test_a_pack_that_may_not_be_read(toys, pack, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(packs, "Pack", refused)
    assert answer_and_why(toys)[1:] == (2, f"{pack} cannot be read: Permission denied")


def test_a_pack_of_another_user_is_refused_once_it_is_open(toys, pack, monkeypatch):
    """Not by its name, which may lead to another file when it is opened."""
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    Pack(pack)  # of the wheel, which an administrator has installed
    monkeypatch.setattr(packs, "FOLDER", pack.parent.parent)
    with pytest.raises(OthersPackError, match="belongs to another user"):
        Pack(pack)


def test_settings_that_change_machine_code(toys, pack, monkeypatch):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    assert (
        answer_and_why(toys)[2]
        == "NUMBA_BOUNDSCHECK=1 requests other machine code than packs contain"
    )
    monkeypatch.undo()


def test_none_if_none_are_wanted(toys, pack, monkeypatch):
    monkeypatch.setenv("EVENER_PACKS", "no")
    assert answer_and_why(toys)[1:] == (2, "EVENER_PACKS=no")


def test_another_version_of_numba(toys, pack):
    pack.rename(pack.with_name(pack.name.replace(numba.__version__, "0.1.2")))
    count, why = answer_and_why(toys)[1:]
    assert count == 2
    assert "numba0.1.2" in why
    assert why.endswith(
        "came with this wheel, but this process needs "
        f"{packs._prefix(HERE.python, numba.__version__)}"
    )


def test_a_wheel_for_any_python(toys):
    packs.FOLDER.mkdir()
    assert answer_and_why(toys)[2].startswith(
        "nothing came with this wheel, but this process needs cp3"
    )


def test_a_checkout_says_nothing(toys):
    assert answer_and_why(toys)[1:] == (2, "")


def made(**changes):
    return replace(HERE, **changes)


LEVEL = {"processor": "x86-64-v2", "features": ""}


def test_which_processors_a_pack_fits(monkeypatch):
    has = dict.fromkeys(packs.LEVELS["x86-64-v2"], True)
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: has)
    assert packs._fits(HERE, HERE)
    assert packs._fits(made(**LEVEL), HERE)
    assert not packs._fits(made(**LEVEL, system="darwin"), HERE)
    assert not packs._fits(made(processor="x86-64-v9", features=""), HERE)
    assert not packs._fits(made(features="+avx2"), HERE)
    assert not packs._fits(made(processor="x86-64-v2"), HERE)  # with features besides
    has["popcnt"] = False
    assert not packs._fits(made(**LEVEL), HERE)


def test_where_another_processor_is_asked_for_its_level_does_not_count(monkeypatch):
    monkeypatch.setattr(numba.config, "CPU_NAME", "generic")
    assert not packs._fits(made(**LEVEL), HERE)
    assert packs._fits(made(**LEVEL), made(**LEVEL))


def test_levels_are_named_as_llvm_names_them():
    from llvmlite import binding as llvm

    known = llvm.get_host_cpu_features()
    if not llvm.get_process_triple().startswith("x86_64"):
        pytest.skip("levels of other processors")
    assert all(one in known for needs in packs.LEVELS.values() for one in needs)


def test_the_processor_is_said(toys, pack, monkeypatch):
    monkeypatch.setattr(packs, "_fits", lambda *_: False)
    processor = cpu_target.target_context.codegen().magic_tuple()[1]
    why = answer_and_why(toys)[2]
    assert why == f"packs are for processors of the level {processor}"


def test_names_tell_packs_apart():
    names = {
        HERE.file_name,
        made(python="cp399").file_name,
        made(numba="9").file_name,
        made(processor="other").file_name,
        made(features="+avx2").file_name,
    }
    assert len(names) == 5
    assert made(**LEVEL, python="cp311", numba="1").file_name == "cp311-numba1-x86-64-v2.pack"


def test_a_user_without_a_home(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", classmethod(lambda _: (_ for _ in ()).throw(RuntimeError)))
    assert packs.users_folder() is None
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert packs.users_folder() == Path("/cache/evener")


CHILD = """
import json, sys
from pathlib import Path
from evener.cli import main
from evener.machine_code import packs
packs.FOLDER = Path(sys.argv[1])
from evener.cli.precompile.compiler import Compiled, kernels_used, watch
compiled = Compiled()
watch(compiled)
code = main(sys.argv[2:])
told = code, compiled.names, kernels_used()
print(json.dumps(told), file=sys.stderr)
"""


def run(folder, words, **variables):
    """Run a command in another process: exit code, kernels compiled, kernels used."""
    ended = run_python("-c", CHILD, folder, *words, "--quiet", **variables)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stderr.splitlines()[-1])


@pytest.mark.slow
def test_plans_are_the_same_and_several_processes_share_a_pack(tmp_path, grid_plan):
    """Packed from this computer's own files, in processes that have none and cannot make one."""
    none = tmp_path / "file"
    none.touch()
    used = run(tmp_path, grid_plan)[2]
    plan = Path(grid_plan[-1])
    expected = plan.read_bytes()
    folder = tmp_path / "packs"
    folder.mkdir()
    pack = write_pack(folder, used)
    words = [[*grid_plan[:-1], str(tmp_path / f"{i}.plan")] for i in range(3)]
    home = {"NUMBA_CACHE_DIR": str(none), "HOME": str(none), "XDG_CACHE_HOME": str(none)}
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda one: run(folder, one, **home), words))
    for code, compiled, used in found:
        assert (code, compiled) == (0, [])
        assert set(used.values()) == {str(pack)} or "__pycache__" in str(used)
    assert {Path(one[-1]).read_bytes() for one in words} == {expected}
