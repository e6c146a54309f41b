"""Wheels: with a pack nothing is compiled in a fresh environment; without one it is said why.

The pack is made from kernels that tests have compiled already; `make wheel` compiles all kernels
for the processors of a level, and runs all rehearsals.
"""

import json
import os
import site
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from evener.cli.precompile.precompile import write_pack
from evener.graphs.generating.grid import grid
from evener.io import write_graph
from tests.assertions import printed_by

pytest.importorskip("hatchling", reason="builds wheels: pip install hatchling")
ROOT = Path(__file__).parents[1]
CHILD = """
import json, sys
from evener.cli import main
from evener.cli.precompile.compiler import Compiled, kernels_used, watch
import evener
compiled = Compiled()
watch(compiled)
for words in json.loads(sys.argv[1]):
    assert main([*words, "--quiet"]) == 0
print(json.dumps([compiled.names, kernels_used(), evener.__path__[0]]))
"""


def built(folder, **variables):
    """Build a wheel; return its path."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, env=os.environ | variables, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = Path(folder).glob("*.whl")
    return wheel


def installed(wheel, folder):
    """Return the Python of a fresh environment that has the wheel, and this one's libraries."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    libraries = "\n".join(site.getsitepackages())  # no .pth there is read: not this checkout's
    (packages / "libraries.pth").write_text(libraries)
    return folder / "bin" / "python"


def ran(python, commands, home):
    """What commands compiled and used in a process, and where their Evener was."""
    env = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    env |= {"HOME": str(home), "NUMBA_NUM_THREADS": "2"}
    ended = subprocess.run(
        [python, "-c", CHILD, json.dumps(commands)],
        env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.fixture
def commands(tmp_path):
    file, plan = tmp_path / "grid.graph", tmp_path / "grid.plan"
    write_graph(file, grid([20, 20]))
    return [
        ["plan", str(file), "--k", "4", "-o", str(plan)],
        ["export", str(plan), "--to", "npz", "-o", str(tmp_path / "grid.npz")],
    ]


@pytest.mark.slow
def test_a_fresh_environment_compiles_nothing(tmp_path, commands):
    used = json.loads(printed_by(CHILD, json.dumps(commands)).splitlines()[-1])[1]
    expected = (tmp_path / "grid.plan").read_bytes()
    for made in (tmp_path / "grid.plan", tmp_path / "grid.npz"):
        made.unlink()
    pack = write_pack(tmp_path, used)
    wheel = built(tmp_path / "dist", EVENER_PACK=str(pack))
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert wheel.name.endswith(f"-{python}-none-manylinux_2_17_x86_64.whl")
    fresh = tmp_path / "fresh"
    compiled, used_there, where = ran(installed(wheel, fresh), commands, tmp_path)
    assert Path(where).is_relative_to(fresh)
    assert compiled == []
    assert used_there.keys() == used.keys()
    assert {Path(path).name for path in used_there.values()} == {pack.name}
    assert list(tmp_path.rglob("*.nbc")) == []
    assert (tmp_path / "grid.plan").read_bytes() == expected


@pytest.mark.slow
def test_the_wheel_for_any_python_says_why_it_compiles(tmp_path, commands):
    wheel = built(tmp_path / "dist")
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if "machine_code/packs/" in name] == [
        "evener/machine_code/packs/packs.txt"
    ]
    code = "from evener.machine_code import packs; print(packs._search(('', '', '')).refused)"
    ended = subprocess.run(
        [installed(wheel, tmp_path / "fresh"), "-c", code],
        env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ended.stdout.startswith("nothing came with this wheel, but this process needs cp3")


@pytest.mark.slow
def test_completion_comes_with_the_wheel(tmp_path):
    share = tmp_path / "share"
    subprocess.run([sys.executable, ROOT / "packaging" / "share.py", share], check=True)
    wheel = built(tmp_path / "dist", EVENER_SHARE=str(share))
    with zipfile.ZipFile(wheel) as archive:
        (data,) = {name.split("/")[0] for name in archive.namelist() if ".data/" in name}
        for name in (
            "bash-completion/completions/evener", "zsh/site-functions/_evener",
            "fish/vendor_completions.d/evener.fish",
        ):  # fmt: skip
            assert archive.read(f"{data}/data/share/{name}") == (share / name).read_bytes()


def test_a_pack_of_another_python_is_refused(tmp_path):
    pack = tmp_path / "cp399-numba1-x86-64-v2.pack"
    pack.touch()
    ended = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, env=os.environ | {"EVENER_PACK": str(pack)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ended.returncode != 0
    assert f"{pack} is no pack for cp3" in ended.stdout + ended.stderr
