"""Every way a graph file can be wrong, as a person sees it: exit code 3, place, reason, remedy."""

import os
import re

import pytest

from evener.cli import main

WEIGHED = "2 1 {}\n{} 2{}\n1 1{}\n"
MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 5\n{}\n"


@pytest.fixture
def refusal(tmp_path, capsys):
    """Run `evener info` on a file of the given content; returns what stderr says."""

    def run(name, content, *options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return said_of(path, *options)

    def said_of(path, *options):
        for manner in ([], ["--json"], ["--quiet"]):
            code = main(["info", str(path), *options, *manner])
            shown = capsys.readouterr()
            assert (code, shown.out) == (3, "")
        assert 1 <= shown.err.count("\n") <= 3
        assert shown.err.startswith("evener: ")
        assert "Traceback" not in shown.err
        return shown.err

    run.of = said_of
    return run


@pytest.mark.parametrize(
    ("name", "content", "place", "words"),
    [
        ("truncated.graph", "4 4\n2 3\n1 3\n1 2", ":1", "4 vertices, but 3 lines follow"),
        ("truncated.mtx", MATRIX.format("2 3 1").replace("3 3 2", "3 3 9"), ":4", "2 of 9 entries"),
        ("truncated.grf", "0\n3 4\n0 000\n1 1\n2 0", ":5", "ends after 1 of 3 vertices"),
        ("truncated.csv", "u,v\n0,1\n1,", ":3", "1 field; the lines before have 2"),
        ("asymmetric.graph", "3 2\n2\n1 3\n1\n", ":4", "not the other way round"),
        ("asymmetric.grf", "0\n2 2\n0 000\n2 1 1\n0\n", "", "more than once"),
        ("loop.graph", "2 1\n1\n2\n", ":2", "its own neighbour"),
        ("zero.graph", "3 2\n2\n0 3\n2\n", ":3", "0 is out of range"),
        ("beyond.graph", "3 2\n2\n1 4\n2\n", ":3", "4 is out of range"),
        ("zero.mtx", MATRIX.format("0 3 1"), ":4", "0 is out of range"),
        ("beyond.mtx", MATRIX.format("2 4 1"), ":4", "4 is out of range"),
        ("vertices.graph", "4 1\n2\n1\n", ":1", "but 2 lines follow"),
        ("edges.graph", "3 3\n2\n1 3\n2\n", ":1", "declares 3 edges"),
        ("few.graph", "3 1\n2\n1 3\n2\n", ":3", "more neighbours than"),
        ("lines.graph", "2 1\n2\n1\n1\n", ":4", "contains more"),
        ("large.graph", f"{10**15} 1\n2\n1\n", ":1", "bytes"),
        ("huge.graph", f"{10**18} 1\n2\n1\n", ":1", "too large"),
        ("digits.graph", f"{'9' * 5000} 3\n2\n1\n", ":1", "too large"),
        ("digits.gr", f"{'9' * 5000} 3\n0 1\n1 2\n2 0\n", ":1", "too large"),
        ("negative.graph", WEIGHED.format("010", "-3", "", ""), ":2", "must not be negative"),
        ("edge.graph", WEIGHED.format("011", "1", " -3", " -3"), ":2", "must not be negative"),
        ("nan.graph", WEIGHED.format("010", "nan", "", ""), ":2", "not finite"),
        ("inf.graph", WEIGHED.format("011", "1", " inf", " inf"), ":2", "not finite"),
        ("overflow.graph", WEIGHED.format("010", "9" * 20, "", ""), "", "2^62"),
        ("number.graph", f"2 1\n{'9' * 20}\n1\n", ":2", "too large"),
        ("both.graph", "2 1 001\n2 1\n1 2\n", ":2", "different weights"),
        ("empty.graph", "", "", "is empty"),
        ("blank.graph", "\n \n", "", "white space"),
        ("binary.graph", bytes(range(256)) * 4, "", "is binary"),
        ("binary.dat", b"\x89PNG\r\n\x1a\n" + bytes(64), "", "is binary"),
        ("text.graph", "Dear reader,\nthis is no graph.\n", ":1", "'Dear'"),
        ("text.dat", "Dear reader,\nthis is no graph.\n", "", "is text"),
        ("text.mtx", MATRIX.format("two three 1"), ":4", "'two'"),
    ],
)
def test_wrong_files(refusal, name, content, place, words):
    said = refusal(name, content)
    assert re.search(rf"/{re.escape(name)}{place}: ", said), said
    assert words in said


@pytest.mark.parametrize(
    ("coords", "place", "words"),
    [
        ("0 0\n1 nan\n", ":2", "not finite"),
        ("0 0\n1 1e400\n", ":2", "not finite"),
        ("0 0\n", "", "1 vertices, but the graph has 2"),
        ("0 0\n1\n", ":2", "1 field"),
    ],
)
def test_wrong_coordinates(refusal, tmp_path, coords, place, words):
    (tmp_path / "g.xyz").write_text(coords)
    said = refusal("g.graph", "2 1\n2\n1\n")
    assert re.search(rf"/g\.xyz{place}: ", said), said
    assert words in said


def test_missing_and_folder(refusal, tmp_path):
    assert "No such file" in refusal.of(tmp_path / "missing.graph")
    assert "is a folder without a mesh" in refusal.of(tmp_path)
    assert "No such file" in refusal("g.graph", "2 1\n2\n1\n", "--coords", "missing.xyz")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_unreadable(refusal, tmp_path):
    path = tmp_path / "locked.graph"
    path.write_text("2 1\n2\n1\n")
    path.chmod(0)
    assert "Permission denied" in refusal.of(path)
