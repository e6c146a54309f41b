"""write_together: all files or none, and none that exists is lost unasked."""

import os

import pytest

from evener.errors import InputError, UsageError
from evener.files import writing
from evener.files.writing import write_together


def broken(error):
    yield b"first"
    raise error


def everything(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def test_files_and_folders_are_made(tmp_path):
    paths = write_together(tmp_path / "new", {"a": [b"1", b"2"], "b/c": iter([b"3"])})
    assert paths == [tmp_path / "new" / "a", tmp_path / "new" / "b" / "c"]
    assert [path.read_bytes() for path in paths] == [b"12", b"3"]
    assert everything(tmp_path) == ["new", "new/a", "new/b", "new/b/c"]


@pytest.mark.parametrize("error", [InputError("no"), OSError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize("names", [["new/a", "new/b/c"], ["new/b/c"], ["a"]])
def test_an_error_leaves_nothing(tmp_path, error, names):
    files = {name: [b"whole"] for name in names} | {names[-1]: broken(error)}
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else InputError
    with pytest.raises(expected):
        write_together(tmp_path, files)
    assert everything(tmp_path) == []


def test_what_exists_is_kept(tmp_path):
    (tmp_path / "b").write_text("precious")
    with pytest.raises(UsageError, match="b already exists") as refused:
        write_together(tmp_path, {"a": [b"1"], "b": [b"2"]})
    assert "--force" in refused.value.hint
    assert everything(tmp_path) == ["b"]
    assert (tmp_path / "b").read_text() == "precious"
    write_together(tmp_path, {"a": [b"1"], "b": [b"2"]}, force=True)
    assert (tmp_path / "b").read_text() == "2"


def test_a_folder_is_never_replaced(tmp_path):
    (tmp_path / "b").mkdir()
    for force in (False, True):
        with pytest.raises(InputError, match="is a folder"):
            write_together(tmp_path, {"a": [b"1"], "b": [b"2"]}, force=force)
    assert everything(tmp_path) == ["b"]


def test_a_link_stays_one(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "b").write_text("old")
    (tmp_path / "b").symlink_to(tmp_path / "far" / "b")
    write_together(tmp_path, {"a": [b"1"], "b": [b"2"]}, force=True)
    assert (tmp_path / "b").is_symlink()
    assert (tmp_path / "far" / "b").read_text() == "2"


def test_new_files_go_where_one_cannot_be_renamed(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    real = os.rename
    monkeypatch.setattr(
        writing.Path,
        "replace",
        lambda self, to: _refuse() if str(to).endswith("c") else real(self, to),
    )
    with pytest.raises(InputError, match="cannot be written"):
        write_together(tmp_path, {"a": [b"1"], "b": [b"2"], "c": [b"3"]}, force=True)
    assert everything(tmp_path) == ["a"]


def _refuse():
    raise PermissionError(13, "Permission denied")
