"""OpenFOAM: decomposePar gives each rank the block of its device, and solvers run on that."""

import shutil

import pytest

import evener as ev
from evener.cli import main
from evener.cli.precompile.samples import write_samples
from evener.errors import InputError, UsageError
from evener.integrations.exports import export
from evener.integrations.openfoam import case_of
from evener.integrations.requests import ExportRequest


@pytest.fixture
def case(tmp_path):
    """A case of a small mesh, and a plan of two blocks."""
    write_samples(tmp_path)
    folder = tmp_path / "case"
    (folder / "constant").mkdir(parents=True)
    (folder / "system").mkdir()
    (tmp_path / "foam").rename(folder / "constant" / "polyMesh")
    plan = tmp_path / "x.plan"
    assert main(["plan", str(folder), "--speeds", "1,2", "-o", str(plan), "--quiet"]) == 0
    return folder


def into_case(case, *more):
    return main(["export", str(case.parent / "x.plan"), str(case), "--to", "openfoam", *more])


def test_the_list_and_settings(case, capsys):
    assert into_case(case) == 0
    plan = ev.read_plan(case.parent / "x.plan")
    part = ev.read_part(case / "constant" / "cellDecomposition", plan.partition.n)
    assert part.tolist() == plan.partition.part.tolist()
    settings = (case / "system" / "decomposeParDict").read_text()
    for entry in ("numberOfSubdomains 2;", "method      manual;", "decomposer  manual;"):
        assert entry in settings
    assert 'manualCoeffs { dataFile "cellDecomposition"; }' in settings
    assert capsys.readouterr().out.count("Written: ") == 2


KEPT = "case/system/decomposeParDict is unchanged"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('numberOfSubdomains 2; method manual; manualCoeffs { dataFile "cellDecomposition"; }', ""),
        ('numberOfSubdomains 2; decomposer manual; dataFile "cellDecomposition";', ""),
        (
            'numberOfSubdomains 4; method manual; manualCoeffs { dataFile "cellDecomposition"; }',
            "numberOfSubdomains 4, but the plan has 2 devices. --force replaces",
        ),
        (
            "numberOfSubdomains 2; // method manual;\nmethod scotch; a { b { method manual; } }",
            "the method scotch, no dataFile cellDecomposition. --force replaces",
        ),
        (
            'numberOfSubdomains 2; method manual; dataFile "cellDecomposition"; constraints { }',
            "but has constraints, which decomposePar refuses",
        ),
        ("numberOfSubdomains $n;", "no numberOfSubdomains, but the plan has 2 devices, no method"),
    ],
)
def test_settings_are_kept(case, capsys, settings, said):
    (case / "system" / "decomposeParDict").write_text(settings)
    assert into_case(case) == 0
    note = capsys.readouterr().err
    assert KEPT in note
    assert said in note
    assert ("numberOfSubdomains 2;\nmethod      manual;" in note) == bool(said)
    assert (case / "system" / "decomposeParDict").read_text() == settings
    assert (case / "constant" / "cellDecomposition").exists()


def test_settings_are_replaced_by_force_and_put_aside(case, capsys):
    settings, aside = (case / "system" / f"decomposeParDict{end}" for end in ("", ".old"))
    settings.write_text("numberOfSubdomains 2; method scotch;\n")
    assert into_case(case, "--force") == 0
    assert "decomposeParDict.old is the file as it was" in capsys.readouterr().err
    assert aside.read_text() == "numberOfSubdomains 2; method scotch;\n"
    ours = settings.read_text()
    assert "method      manual;" in ours
    settings.write_text(ours.replace("Subdomains 2", "Subdomains 7"))
    assert into_case(case, "--force") == 0
    assert settings.read_text() == ours
    assert "scotch" in aside.read_text()
    assert into_case(case, "--force") == 0
    assert "already uses the list for 2 ranks" in capsys.readouterr().err


def test_a_list_that_exists_is_kept(case, capsys):
    (case / "constant" / "cellDecomposition").write_text("precious")
    assert into_case(case) == 2
    assert "cellDecomposition already exists" in capsys.readouterr().err
    assert not (case / "system" / "decomposeParDict").exists()
    assert (case / "constant" / "cellDecomposition").read_text() == "precious"
    assert into_case(case, "--force") == 0
    assert "precious" not in (case / "constant" / "cellDecomposition").read_text()


@pytest.mark.parametrize("file", ["owner", "faces"])
def test_a_changed_mesh_is_refused(case, capsys, file):
    path = case / "constant" / "polyMesh" / file
    path.write_bytes(path.read_bytes() + b"\n")
    assert into_case(case) == 3
    assert (
        "is not the file that the plan was made from, or was changed since (SHA-256)"
        in capsys.readouterr().err
    )
    assert not (case / "constant" / "cellDecomposition").exists()


def test_a_case_without_a_mesh(case, capsys):
    shutil.rmtree(case / "constant")
    assert into_case(case) == 3
    assert "is a folder without a mesh" in capsys.readouterr().err


def test_a_mesh_outside_of_a_case(case, capsys):
    (case / "system").rmdir()
    assert into_case(case) == 3
    assert "is not an OpenFOAM case" in capsys.readouterr().err
    assert into_case(case, "-o", str(case / "list")) == 0
    assert (case / "list").exists()
    assert not (case / "constant" / "cellDecomposition").exists()


def test_the_target_is_a_file_or_the_case(case, capsys, tmp_path):
    assert into_case(case, "-o", str(case)) == 0
    assert into_case(case, "-o", str(tmp_path), "--force") == 2
    assert "but not the case of" in capsys.readouterr().err


def test_points_are_not_for_openfoam(case):
    reading = ev.read(case, by="points")
    plan = ev.plan(reading, [1, 2])
    with pytest.raises(UsageError, match="OpenFOAM divides cells"):
        export(ExportRequest(plan, reading, case), "openfoam")


@pytest.mark.parametrize("inner", ["", "constant", "constant/polyMesh", "constant/polyMesh/faces"])
def test_the_case_of_its_mesh(case, monkeypatch, inner):
    found = case_of(case / inner)
    assert (found.folder, found.mesh) == (case, case / "constant")
    assert found.system == case / "system"
    monkeypatch.chdir(case / "constant")
    assert case_of(case / "constant" / "polyMesh").folder == case
    here = case_of(type(case)("polyMesh"))
    assert here.folder.samefile(case)


def test_regions_and_times(case):
    for place, system in (("constant/fluid", "system/fluid"), ("0.5", "system")):
        (case / place).mkdir()
        shutil.copytree(case / "constant" / "polyMesh", case / place / "polyMesh")
        found = case_of(case / place / "polyMesh")
        assert (found.folder, found.mesh, found.system) == (case, case / place, case / system)


def test_no_case(tmp_path, case):
    (case / "constant" / "polyMesh").rename(tmp_path / "polyMesh")
    with pytest.raises(InputError, match="is not an OpenFOAM case"):
        case_of(tmp_path / "polyMesh")
