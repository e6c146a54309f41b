"""Files plain and packed, and those that cannot be opened."""

import gzip
import hashlib
import lzma
import os

import pytest
import zstandard

from evener.errors import InputError
from evener.io import read, read_graph
from evener.io.sources import find_file, open_source

GRAPH = b"3 2\n2\n1 3\n2\n"
PACKINGS = ["g.graph.gz", "g.graph.xz", "g.graph.zst"]


@pytest.mark.parametrize("name", ["g.graph", *PACKINGS])
def test_plain_and_packed(put, pack, name):
    path = put(pack(GRAPH, name), name)
    source = open_source(path)
    assert (source.data, source.name, source.suffix) == (GRAPH, "g.graph", ".graph")
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read_graph(path).m == 2


@pytest.mark.parametrize("name", PACKINGS)
def test_packed_under_another_name(put, pack, name):
    """What counts is the content: a suffix may be missing or wrong."""
    assert open_source(put(pack(GRAPH, name), "g.graph")).data == GRAPH


@pytest.mark.parametrize("name", PACKINGS)
def test_several_streams_in_one_file(put, pack, name):
    content = pack(GRAPH[:5], name) + pack(GRAPH[5:], name)
    assert open_source(put(content, name)).data == GRAPH


@pytest.mark.slow
def test_long_content(put, pack):
    content = b"".join(b"%d %d\n" % (i, i * i) for i in range(100_000))
    for name in PACKINGS:
        assert open_source(put(pack(content, name), name)).data == content


@pytest.mark.parametrize("name", PACKINGS)
def test_damaged(put, pack, name):
    whole = pack(GRAPH * 50, name)
    for stop in (len(whole) // 2, len(whole) - 1):
        with pytest.raises(InputError, match="cannot be unpacked"):
            open_source(put(whole[:stop], name))
    wrong = bytearray(whole)
    wrong[len(wrong) // 2] ^= 0x55
    with pytest.raises(InputError):
        read_graph(put(bytes(wrong), name))


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, lzma.compress, zstandard.ZstdCompressor().compress],
    ids=["gz", "xz", "zst"],
)
def test_what_grows_out_of_proportion(put, pack):
    packed = pack(b"1 2\n" * (10 * 2**20))
    assert len(packed) < 100_000
    with pytest.raises(InputError, match="grows beyond") as caught:
        open_source(put(packed, "g.graph"))
    assert "unpack it" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\t\r\n", "white space"),
        (gzip.compress(b"", mtime=0), "is empty when unpacked"),
        (b"\x28\xb5\x2f\xfd", "cannot be unpacked: it ends early"),
    ],
)
def test_nothing_in_it(put, content, words):
    with pytest.raises(InputError, match=words):
        open_source(put(content))


def test_missing(tmp_path):
    with pytest.raises(InputError, match="No such file") as caught:
        read(tmp_path / "g.graph")
    assert caught.value.file == str(tmp_path / "g.graph")


def test_a_folder(tmp_path):
    with pytest.raises(InputError, match="folder without a mesh") as caught:
        read(tmp_path)
    assert "OpenFOAM" in caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable(put):
    path = put(GRAPH)
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        read(path)


def test_unreadable_as_the_system_says(put, monkeypatch):
    path = put(GRAPH)

    def refuse(name, flags):
        raise PermissionError(13, "Permission denied", str(name))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        read(path)


def test_a_pipe_and_a_device(tmp_path):
    """Neither is waited for."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/null"):
        with pytest.raises(InputError, match=r"is a (pipe|device), not a file"):
            read(path)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_names_that_no_file_has(name):
    with pytest.raises(InputError):
        read(name)


def test_find_file(put, tmp_path):
    put(b"x", "a.xyz.gz")
    assert find_file(tmp_path / "a.xyz") == tmp_path / "a.xyz.gz"
    assert find_file(tmp_path / "b.xyz") is None
