"""Files appear whole or not at all, whatever happens meanwhile."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evener.errors import InputError, OutputError
from evener.files.writing import atomic_write, discard_unfinished, take_room, write_text


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_written_whole(tmp_path):
    with atomic_write(tmp_path / "a") as file:
        file.write(b"new")
        assert "a" not in names(tmp_path)
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"new"


def test_an_error_leaves_the_old_file_alone(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(RuntimeError), atomic_write(tmp_path / "a") as file:
        file.write(b"new")
        raise RuntimeError
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_mode_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_names_as_long_as_they_can_be(tmp_path):
    write_text(tmp_path / ("n" * 255), "x")
    assert names(tmp_path) == ["n" * 255]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_devices_and_pipes_are_written_to_not_replaced(tmp_path):
    write_text("/dev/null", "x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        write_text(pipe, "through")
        assert reader.communicate()[0] == b"through"
    assert names(tmp_path) == ["pipe"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".", "is a folder"),
        ("missing/a", "No such file"),
        ("file/a", "Not a directory"),
        ("n" * 256, "name too long"),
        ("a\0b", "zero byte"),
    ],
)
def test_refused_with_the_reason(tmp_path, name, reason):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=reason):
        write_text(f"{tmp_path}/{name}", "x")
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_leave_to_write(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Permission denied"):
        write_text(tmp_path / "a", "x")
    tmp_path.chmod(0o700)


def test_no_room_is_the_disks_fault():
    with pytest.raises(OutputError, match="/dev/full: cannot be written: No space left") as raised:
        write_text("/dev/full", "x")
    assert raised.value.exit_code == 6
    assert "Free disk space" in raised.value.hint


@pytest.mark.parametrize(
    ("number", "kind", "reason"),
    [
        (errno.ENOSPC, OutputError, "No space left on device"),
        (errno.EDQUOT, OutputError, "Disk quota exceeded"),
        (errno.EIO, OutputError, "Input/output error"),
        (errno.EROFS, OutputError, "Read-only file system"),
        (errno.EFBIG, OutputError, "File too large"),
        (errno.EACCES, InputError, "Permission denied"),
        (errno.ENAMETOOLONG, InputError, "File name too long"),
    ],
)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_what_a_disk_may_say(tmp_path, monkeypatch, number, kind, reason, call):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(*((os, "fsync") if call == "fsync" else (Path, "replace")), refuse)
    with pytest.raises(kind, match=rf"a: cannot be written: {reason}") as raised:
        write_text(tmp_path / "a", "new")
    monkeypatch.undo()
    assert type(raised.value) is kind
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_unfinished_files_can_be_discarded(tmp_path):
    with pytest.raises(InputError), atomic_write(tmp_path / "a") as file:
        file.write(b"half")
        assert len(names(tmp_path)) == 1
        discard_unfinished()
        assert names(tmp_path) == []
    assert names(tmp_path) == []


WRITER = """
import sys
from evener.files.writing import atomic_write
i = 0
while True:
    i += 1
    with atomic_write(sys.argv[1]) as file:
        for _ in range(50):
            file.write(bytes([i % 256]) * 1000)
"""


def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path):
    target = tmp_path / "a"
    for delay in (0.0, 0.003, 0.007, 0.013, 0.02):
        with subprocess.Popen([sys.executable, "-c", WRITER, target]) as writer:
            while not target.exists():
                time.sleep(0.001)
            time.sleep(delay)
            writer.send_signal(signal.SIGKILL)
        content = target.read_bytes()
        assert len(content) == 50_000
        assert len(set(content)) == 1
        target.unlink()


@pytest.mark.parametrize("code", [None, errno.EOPNOTSUPP, errno.EINVAL])
def test_room_is_taken_before_a_file_is_mapped(tmp_path, monkeypatch, code):
    """Also where the file system cannot set it aside: then zeros are written."""
    if code is not None:
        monkeypatch.setattr(os, "posix_fallocate", failing(code), raising=False)
    with (tmp_path / "a").open("w+b") as file:
        take_room(file, 3 * 2**20 + 5)
        found = os.fstat(file.fileno())
    assert found.st_size == 3 * 2**20 + 5
    assert found.st_blocks * 512 >= found.st_size
    assert not any((tmp_path / "a").read_bytes())


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_disk_without_room_for_a_mapped_file(tmp_path, monkeypatch, code):
    monkeypatch.setattr(os, "posix_fallocate", failing(code), raising=False)
    with (tmp_path / "a").open("w+b") as file, pytest.raises(OSError, match=os.strerror(code)):
        take_room(file, 100)


def failing(code):
    """Return a call that raises the OSError of this number."""

    def call(*_):
        raise OSError(code, os.strerror(code))

    return call
