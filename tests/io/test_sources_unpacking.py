"""What is packed is unpacked as far as is allowed, and no further."""

import bz2
import gzip
import lzma
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io import read_graph, sources, write_graph
from evener.io.sources import unpacked

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
