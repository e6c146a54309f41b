"""`-o -`: files on stdout, whole and alone; tables beside them on stderr."""

import json
import os
import pty
import subprocess
import sys

import pytest

from evener.cli import main
from evener.io.machines.platforms import read_platform

MADE = {
    "plan g.graph --k 3": "new.plan",
    "export g.plan --to csv": "new.csv",
    "export g.plan --to json": "new.json",
    "export g.plan --to npy": "new.npy",
    "refine g.graph g.plan --k 3 --to scotch": "new.map",
    "machine topo1 --k 4 --fast 2": "new.toml",
    "generate grid --shape 4x5 --to graph": "new.graph",
    "generate triangles --n 9 --to su2": "new.su2",
    "generate speeds --curves lille --to toml": "v2.toml",
    "report g.plan": "new.html",
}


@pytest.mark.parametrize("words", MADE)
@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_the_bytes_of_the_file(place, capsysbinary, words, name):
    assert main([*words.split(), "-o", MADE[words]]) == 0
    table = capsysbinary.readouterr().out
    assert main([*words.split(), "-o", name]) == 0
    said = capsysbinary.readouterr()
    assert said.out == (place / MADE[words]).read_bytes()
    written = MADE[words].encode()
    assert set(table.replace(written, b"/dev/stdout").splitlines()) <= set(said.err.splitlines())
    assert not (place / "-").exists()


def test_convert(place, capsysbinary):
    assert main(["convert", "g.graph", "new.mtx"]) == 0
    capsysbinary.readouterr()
    assert main(["convert", "g.graph", "-", "--to", "matrixmarket", "--quiet"]) == 0
    assert capsysbinary.readouterr() == ((place / "new.mtx").read_bytes(), b"")


@pytest.mark.slow
def test_through_a_pipe(tmp_path):
    command = f"{sys.executable} -m evener machine flat --speeds 1,2 -o - --quiet | cat > m.toml"
    subprocess.run(["bash", "-c", command], check=True, cwd=tmp_path)
    assert read_platform(tmp_path / "m.toml").k == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("report g.plan -o - --json", "- and --json cannot both go to stdout"),
        ("plan g.graph --k 3 -o - --report -", "- and another file cannot both go to stdout"),
        ("generate grid --shape 4x5 -o -", "stdout has no suffix to choose the format by"),
        ("convert g.graph -", "no format with the suffix of stdout"),
        ("measure axpy -o -", "writes a journal next to its file"),
        ("generate speeds --curves lille -o x.toml --to su2", "a speeds file ends in .toml"),
        ("plan g.graph --k 3 -o a.html --report a.html", "two outputs have the name a.html"),
        ("run g.plan g.graph --app bfs -o a --report ./a", "two outputs have the name ./a"),
        ("run g.plan g.graph --app bfs --trace a --samples a", "two outputs have the name a"),
        ("run g.plan g.graph --app bfs --timeout 1e18", "more than 30 years"),
        (
            "plan g.graph --k 3 --seed 99999999999999999999",
            "is not a seed: a whole number from 0 to 2^63 - 1",
        ),
        ("generate grid --shape 4x5 -o x.graph --seed -1", "is not a seed"),
    ],
)
def test_refused(evener, place, words, message):
    said = evener(*words.split())
    assert (said.code, said.out) == (2, "")
    assert message in said.err


def test_to_says_what_a_file_is(evener, place):
    assert evener("generate", "triangles", "--n", 9, "-o", "mesh.txt", "--to", "su2").code == 0
    assert (place / "mesh.txt").read_text().startswith("NDIME=")


@pytest.mark.slow
@pytest.mark.parametrize("words", ["plan none --k 3 -o -", "export g.plan --to npy -o -"])
def test_no_binary_to_a_terminal(place, words):
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "evener", *words.split()],
        stdout=theirs, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2
    assert done.stderr.startswith("evener: the output is binary, but stdout is a terminal")


@pytest.mark.slow
def test_text_to_a_terminal(place):
    ours, theirs = pty.openpty()
    words = [
        sys.executable,
        "-m",
        "evener",
        "export",
        "g.plan",
        "--to",
        "json",
        "-o",
        "-",
        "--quiet",
    ]
    subprocess.run(words, stdout=theirs, check=True)
    assert json.loads(os.read(ours, 10_000))["n"] == 72
    os.close(theirs)
    os.close(ours)
