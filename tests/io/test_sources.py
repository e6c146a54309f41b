"""Files plain and packed: what is unpacked, how far, and those that cannot be opened."""

import bz2
import gzip
import hashlib
import lzma
import os
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io import read, read_graph, sources, write_graph
from evener.io.sources import find_file, open_source, unpacked

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


PACKERS = {
    "gz": lambda content: gzip.compress(content, mtime=0),
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor().compress,
}
FILE = Path("g.graph")
packings = pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)


@packings
def test_what_is_packed_comes_back(pack):
    content = b"".join(b"%d %d\n" % (i, i * i % 997) for i in range(3000))
    assert unpacked(pack(content), FILE) == content
    assert unpacked(pack(b"a") + pack(b"") + pack(b"b"), FILE) == b"ab"
    for stop in (len(pack(content)) // 2, len(pack(content)) - 1):
        with pytest.raises(InputError, match="cannot be unpacked"):
            unpacked(pack(content)[:stop], FILE)
    with pytest.raises(InputError, match="is empty when unpacked"):
        unpacked(pack(b""), FILE)


@pytest.mark.slow
@packings
def test_a_bomb_is_refused_in_little_memory(pack):
    bomb = pack(bytes(40 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="grows beyond") as caught:
            unpacked(bomb, FILE)
        # 32 MiB are allowed; a buffer that grows is there twice.
        assert tracemalloc.get_traced_memory()[1] < 120 << 20
    finally:
        tracemalloc.stop()
    assert "EVENER_MAX_RATIO" in caught.value.hint


@pytest.mark.slow
@packings
def test_limits_may_be_raised_and_lowered(pack, monkeypatch):
    content = bytes(40 << 20)
    packed = pack(content)
    monkeypatch.setenv("EVENER_MAX_RATIO", "1000000")
    assert len(unpacked(packed, FILE)) == len(content)
    monkeypatch.setenv("EVENER_MAX_INPUT", "1MiB")
    with pytest.raises(InputError, match="is longer than the 1 MiB allowed"):
        unpacked(packed, FILE)


def test_what_unpacking_itself_may_take(monkeypatch):
    monkeypatch.setattr(sources, "_XZ_MEMORY", 2**20)
    with pytest.raises(InputError, match="cannot be unpacked: Memory usage limit"):
        unpacked(lzma.compress(b"3 2\n", preset=6), FILE)
    monkeypatch.setattr(sources, "_ZSTD_WINDOW", 2**12)
    long = zstandard.ZstdCompressor(level=19).compressobj()
    packed = long.compress(bytes(2**20)) + long.flush()
    with pytest.raises(InputError, match="cannot be unpacked"):
        unpacked(packed, FILE)


def test_bzip2_is_written_as_well(tmp_path):
    graph = Graph([0, 1, 3, 4], [1, 0, 2, 1])
    write_graph(tmp_path / "g.graph.bz2", graph)
    assert (tmp_path / "g.graph.bz2").read_bytes().startswith(b"BZh")
    assert read_graph(tmp_path / "g.graph.bz2").m == 2
