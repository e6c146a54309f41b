"""Folders of a distributed graph: read as written, whole or not there, and damage refused."""

import json
import os
import shutil
import zipfile

import numpy as np
import pytest
from hypothesis import given

import evener as ev
from evener.errors import InputError, UsageError
from evener.graphs.generating.grid import grid
from evener.running import distributed
from evener.running.distributed import read_distributed, read_index, write_distributed
from tests.running.test_distributing import cases, same


@given(cases())
def test_what_is_read_is_what_was_written(tmp_path_factory, case):
    graph, partition, want = case
    parts = ev.distribute(graph, partition, want=want, threads=1)
    folder = tmp_path_factory.mktemp("made") / "parts"
    index = write_distributed(folder, parts, inputs={"g.graph": "00"})
    assert read_index(folder) == index
    assert index["arcs"] == graph.adjncy.size or want == "both"
    assert index["inputs"] == {"g.graph": "00"}
    for part in parts:
        read = read_distributed(folder, part.rank)
        assert same(part, read)
        assert (read.out is read.into) == graph.symmetric
        assert index["devices"][part.rank]["bytes"] == part.nbytes == read.nbytes


@pytest.fixture
def folder(tmp_path):
    graph = grid([6, 5])
    parts = ev.distribute(graph, ev.Partition(np.arange(30) // 10, 3))
    write_distributed(tmp_path / "parts", parts, names=["a", "b", "c"])
    return tmp_path / "parts"


def test_equal_parts_give_equal_bytes(folder, tmp_path):
    parts = [read_distributed(folder, rank) for rank in range(3)]
    write_distributed(tmp_path / "again", parts, names=["a", "b", "c"])
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "parts"]


def test_only_folders_of_ours_are_replaced(folder, tmp_path):
    parts = [read_distributed(folder, rank) for rank in range(3)]
    with pytest.raises(UsageError, match="already exists"):
        write_distributed(folder, parts)
    write_distributed(folder, parts, names=["x", "y", "z"], force=True)
    assert read_index(folder)["devices"][2]["name"] == "z"
    (folder / "notes.txt").write_text("keep me")
    with pytest.raises(InputError, match="contains files that evener distribute has not written"):
        write_distributed(folder, parts, force=True)
    assert (folder / "notes.txt").exists()
    with pytest.raises(InputError, match="is not a folder"):
        write_distributed(folder / "notes.txt", parts, force=True)
    (tmp_path / "empty").mkdir()
    write_distributed(tmp_path / "empty", parts)
    assert same(parts[1], read_distributed(tmp_path / "empty", 1))
    with pytest.raises(InputError, match="folder"):
        write_distributed(tmp_path / "missing" / "parts", parts)


def test_a_failed_write_leaves_what_was_there(folder, tmp_path, monkeypatch):
    parts = [read_distributed(folder, rank) for rank in range(3)]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def fails(file, arrays, level):
        file.write(b"some of it")
        raise OSError(28, os.strerror(28))

    for name in ("write_arrays", "write_text"):
        with monkeypatch.context() as patch:
            patch.setattr(distributed, name, fails if name == "write_arrays" else boom)
            with pytest.raises((ev.OutputError, ZeroDivisionError)):
                write_distributed(folder, parts, force=True)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def boom(*_):
    raise ZeroDivisionError


def test_files_that_do_not_belong_together_are_refused(folder, tmp_path):
    with pytest.raises(InputError, match="has 3 devices, but no device 3"):
        read_distributed(folder, 3)
    with pytest.raises(InputError, match=r"index\.json: cannot be read"):
        read_distributed(tmp_path, 0)
    shutil.copy(folder / "device-0.npz", folder / "device-1.npz")
    with pytest.raises(InputError, match="do not fit together"):
        read_distributed(folder, 1)
    other = ev.distribute(grid([6, 5]), ev.Partition(np.arange(30) // 15, 3))
    write_distributed(tmp_path / "other", other)
    shutil.copy(tmp_path / "other" / "device-2.npz", folder)
    with pytest.raises(InputError, match="belongs to another distribution"):
        read_distributed(folder, 2)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "other"), ("format_version", 9), ("k", 2), ("devices", 3), ("digest", None),
        ("devices", [{"file": "../x"}] * 3), ("devices", [{}] * 3), (None, [1]), (None, "{"),
    ],
)  # fmt: skip
def test_a_damaged_index_is_refused(folder, key, value):
    index = json.loads((folder / "index.json").read_text())
    index = index | {key: value} if key else value
    text = value if value == "{" else json.dumps(index)
    (folder / "index.json").write_text(text)
    with pytest.raises(InputError) as error:
        read_distributed(folder, 0)
    assert error.value.file.endswith("index.json")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("numbers", lambda a: a + 30),
        ("numbers", lambda a: a[:-1]),
        ("numbers", lambda a: a.astype(float)),
        ("numbers", lambda a: -a - 1),
        ("ghost_starts", lambda a: a[::-1]),
        ("out_ends", lambda a: a + 40),
        ("out_ends", lambda a: a.astype(np.int32)),
        ("out_offsets", lambda a: np.append(a[:-1], a[-1] - 1).astype(a.dtype)),
        ("out_offsets", lambda a: np.append(a[:1], a[1:][::-1])),
        ("degrees", lambda a: a[1:]),
        ("sends", lambda a: a + 10),
        ("send_ranks", lambda a: a * 0),
        ("head", lambda a: a[:3]),
        ("head", lambda a: a + 1),
        ("out_offsets", None),
        ("digest", None),
    ],
)
def test_damaged_arrays_are_refused(folder, name, change):
    file = folder / "device-0.npz"
    with np.load(file) as found:
        arrays = dict(found)
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name])
    np.savez(file, **arrays)
    with pytest.raises(InputError) as error:
        read_distributed(folder, 0)
    assert error.value.file == str(file)


def test_files_cut_short_are_refused(folder):
    file = folder / "device-0.npz"
    content = file.read_bytes()
    for size in (0, 10, len(content) // 2, len(content) - 1):
        file.write_bytes(content[:size])
        with pytest.raises(InputError):
            read_distributed(folder, 0)
    assert zipfile.is_zipfile(folder / "device-1.npz")
