"""Partition files of other tools: what is read and what is refused; names as fields of CSV."""

import csv
import gzip
import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import EvenerError, InputError
from evener.graphs.graph import Graph
from evener.io.plans.binary import binary
from evener.io.plans.partitions import read_part, write_part
from evener.io.plans.parts import as_text, quoted
from tests.examples import with_examples

FOAM = "FoamFile\n{\n    format ascii;\n    class labelList;\n}\n"
WANTED = [2, 0, 1, 0]


def npy(array, dtype=None):
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array, dtype))
    return buffer.getvalue()


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        "2\n0\n1\n0\n",
        "% from a tool\n2\r\n0\r\n\r\n1\r\n0",
        "2 0 1 0\n",
        "4\n0\t2\n1\t0\n2\t1\n3\t0\n",
        "4\n4 0\n1 2\n3 1\n2 0\n",
        "vertex,block\n0,2\n1,0\n2,1\n3,0\n",
        "3,0\n2,1\n1,0\n0,2\n",
        "1;2\n2;0\n3;1\n4;0\n",
        "\ufeffvertex;block;device\n0;2;gpu\n1;0;cpu\n2;1;new\n3;0;cpu\n",
        "[2, 0, 1, 0]",
        ' {"part": [2, 0, 1, 0], "k": 3}',
        f"{FOAM}4\n(\n2\n0\n1\n0\n)\n// end\n",
        f"/* banner */\n{FOAM}4(2 0 1 0)",
        npy(WANTED),
        npy(WANTED, "f4"),
        npy(WANTED, ">i2"),
        npz(part=np.array(WANTED), more=np.zeros(3)),
        gzip.compress(b"2\n0\n1\n0\n", mtime=0),
    ],
)
def test_understood(put, content):
    assert read_part(put(content, "x.part"), 4).tolist() == WANTED


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("2\n0\n1\n", None, "blocks of 3 vertices; 4 are needed"),
        ("2\n0\n1\n0\n0\n", 5, "more lines than the 4 vertices"),
        ("2\n0\n-1\n0\n", 3, "block -1 is below 0"),
        ("2\n0\n1.5\n0\n", 3, "must be a whole number, not 1.5"),
        ("2\n0\nnan\n0\n", 3, "not finite"),
        ("2\n0\nx\n0\n", 3, "'x'"),
        ("2\n0\n2147483648\n0\n", None, "above 2\\^31 - 1"),
        ("2\n0\n99999999999999999999\n0\n", 3, "whole number"),
        ("2\n0 1\n1\n0\n", None, "but contains more"),
        ("5\n0 2\n1 0\n2 1\n3 0\n", 5, "4 of the declared 5 vertices"),
        ("-4\n0 2\n1 0\n2 1\n3 0\n", None, "declares -4 vertices"),
        ("4\n0 2\n1 0\n1 1\n3 0\n", 4, "vertex 1 appears twice"),
        ("4\n0 2\n1 0\n2 1\n9 0\n", 5, "vertex 9 does not exist: there are 4"),
        ("4\n0 2\n1 0\n2 -1\n3 0\n", 4, "block -1 is below 0"),
        ("v,b\n0,2\n1,0\n2,1\n", None, "blocks of 3 vertices"),
        ("v,b\n0,2\n1,0\n2,1\n2,0\n", 5, "appears twice"),
        ("v,b\n0,2\n1,0\n2,x\n3,0\n", 4, "a vertex and its block"),
        ("v,b\n0,2\n1,0,cpu,7\n", 3, "a vertex and its block"),
        ("v,b\n0,2\nfirst,0\n", 3, "is not a vertex number"),
        ("v,b\n0,2\n-1,0\n1,1\n2,2\n", 3, "vertex -1 does not exist"),
        (b"0,1\n\xff\xfe,1\n", 2, "UTF-8"),
        ('{"parts": [1]}', None, "no list `part`"),
        ('{"part": [1, true, 0, 0]}', None, "entry 1"),
        ('{"part": [1, 0.0, 0, 0]}', None, "entry 1"),
        ('{"part": [1, 99999999999999999999999, 0, 0]}', None, "whole|numbers"),
        ('{"part": [1,\n', 2, "is not JSON"),
        ("[" * 100_000, None, "is not JSON"),
        (f"{FOAM}5(2 0 1 0)", 6, "declares 5 entries, but contains 4"),
        (f"{FOAM}4(2 0 1 0", None, "no complete list"),
        (f"{FOAM}4(2 0 1 0.5)", 6, "whole number"),
        (npy([2, 0, 1]), None, r"shape \(3,\); \(4,\) is needed"),
        (npy([[2, 0, 1, 0]]), None, "shape"),
        (npy(["a", "b", "c", "d"]), None, ", not block numbers"),
        (npy([0.5, 0, 0, 0]), None, "whole numbers"),
        (npy([2, 0, -1, 0]), None, "vertex 2 has block -1"),
        (npy(np.array([2**64 - 1, 0, 0, 0], np.uint64)), None, r"2\^63"),
        (npy(WANTED)[:-1], None, "does not contain what its header declares"),
        (npy(WANTED)[:60], None, "damaged .npy header"),
        (npz(blocks=np.array(WANTED)), None, "without `part`"),
        (npz(part=np.array(WANTED))[:-30], None, "damaged archive"),
        (b"PK\x03\x04", None, "damaged archive"),
        ("% nothing\n", None, "no numbers"),
        ("", None, "is empty"),
        (" \n \n", None, "white space"),
    ],
)
def test_refused(put, content, line, words):
    path = put(content, "x.part")
    with pytest.raises(InputError, match=words) as raised:
        read_part(path, 4)
    assert raised.value.file == str(path)
    if line is not None:
        assert raised.value.line == line
    assert str(raised.value).count("\n") <= 2
    assert len(str(raised.value)) < 400


def test_headers_that_lie_reserve_nothing(put):
    """An array of 80 GB is promised; what is read is bounded by what is asked for."""
    header = np.lib.format.header_data_from_array_1_0(np.zeros(4, np.int64))
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, header | {"shape": (10**10,)})
    with pytest.raises(InputError, match="does not contain what its header declares"):
        read_part(put(buffer.getvalue() + bytes(32), "x.npy"), 4)
    with pytest.raises(InputError, match="does not contain what its header declares"):
        read_part(put(buffer.getvalue() + bytes(32), "x.npy"), 10**10)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("part.npy", buffer.getvalue() + bytes(10**7))
    with pytest.raises(InputError, match="does not contain what its header declares"):
        read_part(put(archive.getvalue(), "x.npz"), 4)


def test_no_file_and_folders(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_part(tmp_path / "none", 4)
    (tmp_path / "polyMesh").mkdir()
    with pytest.raises(InputError, match="folder"):
        read_part(tmp_path / "polyMesh", 4)


SEEDS = [
    b"2\n0\n1\n0\n",
    b"4\n0\t2\n1\t0\n2\t1\n3\t0\n",
    b"vertex,block\n0,2\n1,0\n2,1\n3,0\n",
    json.dumps({"n": 4, "part": WANTED}).encode(),
    f"{FOAM}4\n(\n2\n0\n1\n0\n)\n".encode(),
    b"".join(binary(np.array(WANTED, np.int32), ("old", "new", ""))),
    npy(WANTED),
    npz(part=np.array(WANTED)),
]
WORDS = [b"-1", b"9" * 20, b"1e9", b"nan", b"\0", b"\xff", b"", b"(", b"}", b",", b"4294967296"]


@with_examples(150)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 8), st.sampled_from(WORDS)), max_size=4),
    st.integers(0, 400),
)
def test_mutated(tmp_path_factory, seed, cuts, length):
    content = bytearray(seed)
    for at, size, word in cuts:
        start = at % (len(content) + 1)
        content[start : start + size] = word
    path = tmp_path_factory.getbasetemp() / "mutated.part"
    path.write_bytes(bytes(content[: length % (2 * len(seed))] if length % 3 == 0 else content))
    try:
        part = read_part(path, 4)
    except EvenerError as error:
        assert error.exit_code == 3
        assert str(error).count("\n") <= 2
        return
    assert part.shape == (4,)
    assert part.dtype == np.int32
    assert part.min() >= 0


NAMES = [
    "=1+1",
    "+x",
    "-x",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "=a,b",
    '="x"',
    "\u202ex",
    "\x1b[2J",
]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_computed(name):
    ((field,),) = csv.reader(io.StringIO(quoted(name), newline=""))
    assert field[0] not in "=+-@\t\r\n"
    assert "\u202e" not in field
    assert "\x1b" not in field


@pytest.mark.parametrize("name", ["-5", "+1.5e3", "gpu0", "a=b", "", "é", "-1"])
def test_numbers_and_plain_names_are_left_alone(name):
    assert as_text(name) == quoted(name) == name


def test_labels_come_back(tmp_path):
    labels = [*NAMES, "plain", "-7"]
    n = len(labels)
    xadj = np.concatenate([[0, 1], np.arange(3, 2 * n - 1, 2), [2 * n - 2]])
    adjncy = np.concatenate([[1], *[[v - 1, v + 1] for v in range(1, n - 1)], [n - 2]])
    graph = Graph(xadj, adjncy, labels=np.array(labels))
    part = np.arange(n) % 3
    write_part(tmp_path / "p.csv", part, "csv", graph=graph, devices=["=a", "@b", "c"])
    text = (tmp_path / "p.csv").read_text()
    assert ",'=a\n" in text
    assert ",'@b\n" in text
    assert (read_part(tmp_path / "p.csv", n, labels=graph.labels) == part).all()
