"""Archives of arrays: small files ask for little memory, whatever their members say."""

import io
import zipfile
import zlib

import numpy as np
import pytest

from evener.errors import InputError
from evener.io import read_graph
from evener.io.archives import names_in, read_arrays, write_arrays
from evener.io.plans.partitions import read_part
from evener.io.plans.plan import read_plan

PACKINGS = [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def npy(array, shape=None):
    out = io.BytesIO()
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(out, header | ({"shape": shape} if shape else {}))
    return out.getvalue() + array.tobytes()


def archive(members, packing=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as file:
        for name, content in members:
            file.writestr(f"{name}.npy", content)
    return out.getvalue()


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("read", [read_graph, read_plan, lambda path: read_part(path, 4)])
def test_members_packed_otherwise(put, packing, read):
    """Such a file of 5 kB could take 12 GB."""
    names = ("evener_graph", "xadj", "adjncy", "part", "manifest", "sender")
    members = [(name, npy(np.zeros(500_000, np.int32))) for name in names]
    path = put(archive(members, packing), "x.npz")
    assert path.stat().st_size < 10_000
    with pytest.raises(InputError, match="is compressed by an unsupported method"):
        read(path)


def test_written_and_read():
    out = io.BytesIO()
    arrays = {"a": np.arange(5), "b": np.array("text"), "c": np.zeros((2, 3))}
    write_arrays(out, arrays, level=6)
    found = read_arrays(out.getvalue(), {"a", "b", "none"})
    assert names_in(out.getvalue()) == {"a", "b", "c"}
    assert found.keys() == {"a", "b"}
    assert (found["a"] == arrays["a"]).all()
    assert found["b"].shape == ()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (npy(np.zeros(4), (10**12,)), "does not contain what its header declares"),
        (npy(np.zeros(4), (3,)), "does not contain what its header declares"),
        (npy(np.zeros(4), (-4,)), "which is not an array of numbers or text"),
        (b"\x93NUMPY\x09\x00" + bytes(100), "version"),
        (b"garbage", "damaged .npy header"),
        (npy(np.zeros(4))[:20], "damaged .npy header"),
    ],
)
def test_headers_that_lie(content, words):
    with pytest.raises(InputError, match=words):
        read_arrays(archive([("a", content)]), {"a"})


def test_twice_there():
    with pytest.warns(UserWarning, match="Duplicate"):
        content = archive([("a", npy(np.zeros(1))), ("a", npy(np.zeros(2)))])
    with pytest.raises(InputError, match="contains a twice"):
        read_arrays(content, {"a"})


@pytest.mark.slow
def test_a_ratio_that_is_allowed(monkeypatch):
    content = archive([("a", npy(np.zeros(9_000_000)))])
    assert len(content) < 100_000
    with pytest.raises(InputError, match="a grows beyond 67,108,864 bytes") as caught:
        read_arrays(content, {"a"})
    assert "EVENER_MAX_RATIO" in caught.value.hint
    monkeypatch.setenv("EVENER_MAX_RATIO", "2000")
    assert read_arrays(content, {"a"})["a"].size == 9_000_000


def test_a_member_that_unpacks_to_more_than_it_says():
    true = npy(np.zeros(1_000_000))
    said = npy(np.zeros(10))
    content = archive([("a", true)])
    for old, new in [(len(true), len(said)), (zlib.crc32(true), zlib.crc32(said))]:
        content = content.replace(old.to_bytes(4, "little"), new.to_bytes(4, "little"))
    with pytest.raises(InputError, match=r"promises|damaged"):
        read_arrays(content, {"a"})


@pytest.mark.parametrize("code", [0x110000, 0x80000061, 0xD800, 0xDFFF])
@pytest.mark.parametrize("order", "<>")
def test_texts_that_are_none(code, order):
    """NumPy makes texts of any number, which then are written as what is no UTF-8."""
    texts = np.array(["abc", "de"], f"{order}U3")
    assert read_arrays(archive([("a", npy(texts))]), {"a"})["a"].tolist() == ["abc", "de"]
    texts.view(f"{order}u4")[4] = code
    with pytest.raises(InputError, match="contains invalid text"):
        read_arrays(archive([("a", npy(texts))]), {"a"})
