"""Unfinished files of killed processes are removed by whoever writes there next, others never."""

import os
import signal
import subprocess
import sys

import pytest

from evener.files import abandoned, writing
from evener.files.abandoned import remove_abandoned, remove_abandoned_once
from evener.files.writing import atomic_write, write_text
from tests.files.test_writing import names

WRITER = """
import sys, time
from evener.files.writing import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write(bytes(1000))
    file.flush()
    print("writing", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def half(tmp_path):
    """A process that has written half of the file `whole`."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, tmp_path / "whole"], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout.readline() == "writing\n"
        yield writer
        writer.kill()


def test_what_a_killed_process_left_is_removed_by_the_next_that_writes(tmp_path, half):
    assert len(names(tmp_path)) == 1
    assert remove_abandoned(tmp_path) == 0  # it is in use
    half.send_signal(signal.SIGKILL)
    half.wait()
    assert len(names(tmp_path)) == 1
    write_text(tmp_path / "a", "text")
    assert names(tmp_path) == ["a"]


def test_a_file_of_this_process_stays(tmp_path):
    with atomic_write(tmp_path / "a") as file:
        file.write(b"text")
        assert remove_abandoned(tmp_path) == 0
    assert (tmp_path / "a").read_bytes() == b"text"


def test_other_files_stay(tmp_path):
    (tmp_path / ".evener-notes").touch()
    (tmp_path / ".evener-0123456789abcdef.old").touch()
    (tmp_path / ".evener-0123456789abcdee").mkdir()
    (tmp_path / "target").touch()
    (tmp_path / ".evener-0123456789abcded").symlink_to(tmp_path / "target")
    before = names(tmp_path)
    assert remove_abandoned(tmp_path) == 0
    assert names(tmp_path) == before


def test_not_of_another_user(tmp_path, monkeypatch):
    (tmp_path / ".evener-0123456789abcdef").touch()
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert remove_abandoned(tmp_path) == 0
    monkeypatch.undo()
    assert remove_abandoned(tmp_path) == 1


def test_a_folder_is_looked_through_once(tmp_path):
    remove_abandoned_once(tmp_path)
    (tmp_path / ".evener-0123456789abcdef").touch()
    remove_abandoned_once(tmp_path)
    assert len(names(tmp_path)) == 1


def test_without_locks_files_are_written_and_none_is_removed(tmp_path, monkeypatch):
    def refuse(_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(abandoned, "locked", refuse)
    monkeypatch.setattr(writing, "locked", refuse)
    (tmp_path / ".evener-0123456789abcdef").touch()
    write_text(tmp_path / "a", "text")
    assert names(tmp_path) == [".evener-0123456789abcdef", "a"]
