"""OpenFOAM itself takes the plan: ranks get their blocks, and compute what one rank computes."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.io.meshes.openfoam import binary_file
from evener.io.plans.partitions import write_part
from evener.io.sources import open_source
from tests.integrations.cavity import TOLERANCE, write_case
from tests.integrations.programs import program
from tests.test_docs import ROOT, assert_printed, blocks_of, commands_of, run_command

pytestmark = pytest.mark.integrations
SPEEDS, K = "1,2,5", 3
PARALLEL = ("mpirun.openmpi", "--oversubscribe", "-n", str(K))
ENVIRONMENT = {
    "WM_PROJECT_DIR": "/usr/share/openfoam",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
END = "0.05"
# Errors of the linear solvers in 10 steps of 3 systems each, and of values of size 5 in 64 bits.
ALIKE = 100 * TOLERANCE


def foam(case, *words, fails=False):
    """Run a program in the case, which fails if that is expected; return what it printed."""
    program(words[0])
    env = ENVIRONMENT | os.environ
    done = subprocess.run(
        words, cwd=case, env=env, text=True, capture_output=True, check=False, timeout=100
    )
    said = done.stdout + done.stderr
    assert (done.returncode != 0) == fails, said
    return said


def exported(case, *more, plan="x.plan"):
    return main(["export", str(case.parent / plan), str(case), "--to", "openfoam", *more])


def meshed(folder):
    write_case(folder)
    foam(folder, "blockMesh")
    return folder


@pytest.fixture(scope="module")
def decomposed(tmp_path_factory):
    """The cavity, planned for three unequal devices and decomposed."""
    program("decomposePar")
    case = meshed(tmp_path_factory.mktemp("openfoam") / "cavity")
    plan = case.parent / "x.plan"
    assert main(["plan", str(case), "--speeds", SPEEDS, "-o", str(plan), "--quiet"]) == 0
    assert exported(case, "--quiet") == 0
    foam(case, "decomposePar")
    return case


@pytest.fixture
def case(decomposed, tmp_path):
    """The cavity with its mesh and plan, to be changed."""
    shutil.copy(decomposed.parent / "x.plan", tmp_path)
    for name in ("constant", "system", "0"):
        shutil.copytree(decomposed / name, tmp_path / "cavity" / name)
    (tmp_path / "cavity" / "constant" / "cellDecomposition").unlink()
    (tmp_path / "cavity" / "system" / "decomposeParDict").unlink()
    return tmp_path / "cavity"


MACHINE = """
[[level]]
name = "net"
alpha_us = 1e6
GB_per_s = 1
[[device]]
name = "cpu"
speed = 1e6
count = 3
"""


def cells_of(case, rank, mesh="constant/polyMesh"):
    text = (case / f"processor{rank}" / mesh / "cellProcAddressing").read_text()
    size, cells = re.search(r"\n(\d+)\s*\(([\d\s]*)\)", text).groups()
    numbers = np.array(cells.split(), np.int64)
    assert numbers.size == int(size)
    return numbers


def field(path):
    values = re.search(r"internalField\s+nonuniform\s[^(]*\((.*?)\n\)", path.read_text(), re.DOTALL)
    return np.array(re.findall(r"[-+\d.e]+", values[1]), float)


def assert_blocks(case, part, mesh="constant/polyMesh"):
    for rank in range(K):
        assert cells_of(case, rank, mesh).tolist() == np.flatnonzero(part == rank).tolist()


def test_each_rank_has_the_cells_of_its_block(decomposed):
    part = ev.read_plan(decomposed.parent / "x.plan").partition.part
    assert len(set(np.bincount(part).tolist())) == K
    assert_blocks(decomposed, part)


@pytest.mark.parametrize("size", [(8, 2, 1), (2, 2, 1), (6, 5, 4)])
def test_the_cut_is_the_number_of_processor_faces(tmp_path, size):
    """With cyclic sides, for any blocks; of two columns cells share two faces."""
    write_case(tmp_path)
    for name in ("0/p", "0/U"):
        (tmp_path / name).unlink()
    dictionary = tmp_path / "system" / "blockMeshDict"
    text = dictionary.read_text().replace("(20 20 1)", f"({' '.join(map(str, size))})")
    start = text.index("boundary")
    dictionary.write_text(
        text[:start] + "boundary ( left { type cyclic; neighbourPatch right; faces ((0 4 7 3)); }"
        " right { type cyclic; neighbourPatch left; faces ((1 5 6 2)); }"
        " others { type wall; faces ((3 7 6 2)(0 1 5 4)(0 3 2 1)(4 5 6 7)); } );"
    )
    foam(tmp_path, "blockMesh")
    reading = ev.read(tmp_path)
    part = np.random.default_rng(7).integers(0, K, reading.graph.n)
    part[:K] = np.arange(K)
    plan = ev.plan(reading, K)
    ev.write_plan(tmp_path.parent / "x.plan", plan)
    assert exported(tmp_path, "--quiet") == 0
    listed = tmp_path / "constant" / "cellDecomposition"
    for blocks in (plan.partition.part, part):
        write_part(listed, blocks, "openfoam", mesh=reading.mesh)
        said = foam(tmp_path, "decomposePar", "-force")
        faces = int(re.findall(r"Number of processor faces = (\d+)", said)[-1])
        assert ev.evaluate(reading, blocks, K).edge_cut == faces


@pytest.mark.slow
def test_each_ranks_mesh_is_sound(decomposed):
    for rank in range(K):
        said = foam(decomposed, "checkMesh", "-case", f"processor{rank}")
        assert "Mesh OK." in said


@pytest.mark.slow
def test_three_unequal_ranks_compute_what_one_does(decomposed):
    foam(decomposed, "icoFoam")
    (decomposed / END).rename(decomposed / "one")
    assert "nProcs : 3" in foam(decomposed, *PARALLEL, "icoFoam", "-parallel")
    foam(decomposed, "reconstructPar", "-latestTime")
    for name, size in (("U", 1200), ("p", 400)):
        one, three = field(decomposed / "one" / name), field(decomposed / END / name)
        assert one.size == three.size == size
        assert np.abs(one).max() > 0.1
        if name == "p":  # known but for a constant: pRefCell counts the cells of the first rank
            one, three = one - one[0], three - three[0]
        assert np.abs(three - one).max() < ALIKE


@pytest.mark.parametrize("change", ["renumbered", "coarser"])
def test_another_mesh_is_refused_before_openfoam_sees_it(case, capsys, change):
    assert exported(case) == 0
    if change == "renumbered":
        foam(case, "renumberMesh", "-overwrite")
        assert ev.read(case).graph.n == ev.read_plan(case.parent / "x.plan").partition.n
    else:
        settings = case / "system" / "blockMeshDict"
        settings.write_text(settings.read_text().replace("(20 20 1)", "(20 19 1)"))
        foam(case, "blockMesh")
    before = (case / "constant" / "cellDecomposition").read_bytes()
    capsys.readouterr()
    assert exported(case, "--force") == 3
    words = {"renumbered": "was changed since", "coarser": "380 vertices, but the plan divides 400"}
    assert words[change] in capsys.readouterr().err
    assert (case / "constant" / "cellDecomposition").read_bytes() == before
    # Of the list that is there decomposePar sees only whether it is too long.
    foam(case, "decomposePar", fails=change == "coarser")


def test_settings_for_another_number_of_ranks(case, capsys):
    assert exported(case) == 0
    settings = case / "system" / "decomposeParDict"
    settings.write_text(
        settings.read_text().replace("numberOfSubdomains 3", "numberOfSubdomains 2")
    )
    (case / "constant" / "cellDecomposition").unlink()
    assert exported(case) == 0
    assert "numberOfSubdomains 2, but the plan has 3 devices" in capsys.readouterr().err
    assert "impossible processor numbers" in foam(case, "decomposePar", fails=True)
    assert exported(case, "--force") == 0
    foam(case, "decomposePar")


def test_settings_of_ones_own_with_our_lines(case, capsys):
    settings = case / "system" / "decomposeParDict"
    settings.write_text("FoamFile { version 2.0; format ascii; class dictionary; object x; }\n")
    assert exported(case) == 0
    lines = capsys.readouterr().err.partition("add:\n")[2]
    settings.write_text(settings.read_text() + lines)
    assert exported(case, "--force") == 0
    assert "already uses" in capsys.readouterr().err
    foam(case, "decomposePar")
    assert_blocks(case, ev.read_plan(case.parent / "x.plan").partition.part)


@pytest.mark.parametrize("place", ["constant/fluid", "0.5"])
def test_regions_and_meshes_of_a_time(case, place):
    mesh = case / place / "polyMesh"
    mesh.parent.mkdir(exist_ok=True)
    (case / "constant" / "polyMesh").rename(mesh)
    plan = case.parent / "x.plan"
    words = ["decomposePar"]
    if place == "0.5":
        control = case / "system" / "controlDict"
        control.write_text(
            control.read_text().replace("startFrom startTime", "startFrom latestTime")
        )
    else:
        (case / "system" / "fluid").mkdir()
        for name in ("fvSchemes", "fvSolution"):
            shutil.copy(case / "system" / name, case / "system" / "fluid")
        words += ["-region", "fluid"]
    assert main(["export", str(plan), str(mesh), "--to", "openfoam", "--quiet"]) == 0
    foam(case, *words)
    assert_blocks(case, ev.read_plan(plan).partition.part, f"{place}/polyMesh")


ZONE = """FoamFile { version 2.0; format ascii; class dictionary; object topoSetDict; }
actions
(
    {
        name middle; type faceSet; action new;
        source boxToFace; sourceInfo { box (0.0149 -1 -1) (0.0151 1 1); }
    }
    {
        name middle; type faceZoneSet; action new;
        source setToFaceZone; sourceInfo { faceSet middle; }
    }
);
"""


@pytest.mark.slow
def test_constraints_do_not_go_with_a_list(case, capsys):
    (case / "system" / "topoSetDict").write_text(ZONE)
    foam(case, "topoSet")
    assert exported(case) == 0  # zones are beside the mesh
    settings = case / "system" / "decomposeParDict"
    constraint = 'constraints { zones { type preserveFaceZones; zones (".*"); enabled true; } }\n'
    settings.write_text(settings.read_text() + constraint)
    (case / "constant" / "cellDecomposition").unlink()
    assert exported(case) == 0
    assert "has constraints, which decomposePar refuses" in capsys.readouterr().err
    assert "Not implemented" in foam(case, "decomposePar", fails=True)


@pytest.mark.slow
def test_a_mesh_in_binary(case):
    text = ev.read(case).mesh
    control = case / "system" / "controlDict"
    control.write_text(control.read_text() + "writeFormat binary;\n")
    shutil.rmtree(case / "constant" / "polyMesh")
    foam(case, "blockMesh")
    assert b"faceCompactList" in (case / "constant" / "polyMesh" / "faces").read_bytes()
    binary = ev.read(case).mesh
    assert np.allclose(binary.points, text.points, rtol=0, atol=1e-15)
    for name in ("face_offsets", "face_corners", "owner", "neighbour"):
        assert np.array_equal(getattr(binary, name), getattr(text, name))
    plan = case.parent / "x.plan"
    assert main(["plan", str(case), "--speeds", SPEEDS, "-o", str(plan), "--quiet"]) == 0
    assert exported(case) == 0
    foam(case, "decomposePar")
    part = ev.read_plan(plan).partition.part
    header = b'class labelList; arch "LSB;label=32;scalar=64";'
    for rank in range(K):
        cells = open_source(case / f"processor{rank}/constant/polyMesh/cellProcAddressing")
        first = re.search(rb"\d+\n\(", cells.data).start()
        numbers = binary_file(cells, header, first).labels()
        assert numbers.tolist() == np.flatnonzero(part == rank).tolist()


@pytest.mark.slow
def test_devices_that_are_left_out(case):
    """All cells go to one device where messages take a second; the other ranks run without."""
    machine = case.parent / "m.toml"
    machine.write_text(MACHINE)
    words = ["plan", str(case), "--machine", str(machine), "-o", str(case.parent / "x.plan")]
    assert main([*words, "--quiet"]) == 0
    part = ev.read_plan(case.parent / "x.plan").partition.part
    assert len(set(part.tolist())) == 1
    assert exported(case) == 0
    foam(case, "decomposePar")
    foam(case, *PARALLEL, "icoFoam", "-parallel")
    assert (case / f"processor{part[0]}" / END / "U").exists()


HERE = """
[[device]]
name = "old"
host = "localhost"
cores = "{}"
speed = 1
[[device]]
name = "new"
host = "localhost"
cores = "{}"
speed = 3
"""


@pytest.mark.slow
def test_launched_on_its_cores(case, monkeypatch, capfd):
    """A machine that says where its devices are, to a solver with a rank on each."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("two processors are needed")
    program("mpirun.openmpi")
    for key, value in ENVIRONMENT.items():
        monkeypatch.setenv(key, value)
    machine = case.parent / "m.toml"
    machine.write_text(HERE.format(*cores[:2]))
    plan = str(case.parent / "x.plan")
    words = ["plan", str(case), "--machine", str(machine), "-o", plan, "--quiet"]
    assert main(words) == 0
    assert exported(case) == 0
    foam(case, "decomposePar")
    sizes = [cells_of(case, rank).size for rank in (0, 1)]
    assert sum(sizes) == 400
    assert abs(sizes[0] - 100) <= 3
    solver = ["icoFoam", "-case", str(case), "-parallel"]
    assert main(["launch", plan, "--with", "openmpi", "--run", "--", *solver]) == 0
    assert "nProcs : 2" in capfd.readouterr().out
    assert (case / "processor1" / END / "U").exists()


@pytest.mark.slow
def test_the_page(case, monkeypatch):
    """The commands of the section in docs/integrations.md print what stands below them."""
    program("decomposePar")
    program(PARALLEL[0])
    page = ROOT / "docs" / "integrations.md"
    shown = blocks_of(page, "OpenFOAM")
    for key, value in ENVIRONMENT.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(case.parent)
    blocks = [block for block in shown if block.language == "console"]
    assert len(blocks) == 2
    for block in blocks:
        for command, expected in commands_of(block.text):
            words = command.replace("mpirun -n 3", " ".join(PARALLEL))
            code, printed = run_command(words)
            assert code == 0, printed
            assert_printed(expected, printed, command)
    script = next(block.text for block in shown if block.language == "python")
    exec(compile(script, str(page), "exec"), {})
    settings = (case / "system" / "decomposeParDict").read_text()
    entries = next(b.text for b in shown if "numberOfSubdomains" in b.text)
    assert re.sub(r"\s*//.*", "", settings).endswith(entries)
