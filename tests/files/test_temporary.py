"""Private folders: removed by their owner, or once it is dead by whoever comes next."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evener.errors import OutputError
from evener.files import temporary
from evener.files.abandoned import FOLDER_PREFIX as PREFIX
from evener.files.abandoned import remove_abandoned
from evener.files.temporary import discard_folders, private_folder

OWNER = """
import sys, time
from evener.files.temporary import private_folder
with private_folder(sys.argv[1]) as folder:
    (folder / "big").write_bytes(bytes(1000))
    print(folder, flush=True)
    time.sleep(600)
"""


def started(place):
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, place], stdout=subprocess.PIPE, text=True
    )
    return owner, Path(owner.stdout.readline().strip())


def ended(owner):
    owner.send_signal(signal.SIGKILL)
    owner.communicate()


def test_there_and_gone(tmp_path):
    with private_folder(tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o077 == 0  # nobody else looks in
    assert list(tmp_path.iterdir()) == []


def test_gone_after_an_error(tmp_path):
    with pytest.raises(KeyError), private_folder(tmp_path):
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_at_the_next_start(tmp_path):
    owner, folder = started(tmp_path)
    assert remove_abandoned(tmp_path) == 0  # it is in use
    ended(owner)
    assert (folder / "big").exists()
    with private_folder(tmp_path) as own:
        assert list(tmp_path.iterdir()) == [own]


def test_only_what_is_ours(tmp_path):
    (tmp_path / f"{PREFIX}file").touch()
    (tmp_path / f"{PREFIX}folder").mkdir()  # without a lock: nobody knows whose
    (tmp_path / "evener-other").mkdir()
    (tmp_path / "evener-other" / "owner").touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "owner").touch()
    (tmp_path / f"{PREFIX}link").symlink_to(elsewhere)
    before = sorted(tmp_path.rglob("*"))
    assert remove_abandoned(tmp_path) == 0
    assert sorted(tmp_path.rglob("*")) == before


def test_not_of_another_user(tmp_path, monkeypatch):
    owner, folder = started(tmp_path)
    ended(owner)
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert remove_abandoned(tmp_path) == 0
    monkeypatch.undo()
    assert remove_abandoned(tmp_path) == 1
    assert not folder.exists()


def test_a_lock_that_leads_elsewhere_is_not_followed(tmp_path):
    owner, folder = started(tmp_path)
    ended(owner)
    (folder / "owner").unlink()
    (folder / "owner").symlink_to(tmp_path / "made")
    assert remove_abandoned(tmp_path) == 0
    assert not (tmp_path / "made").exists()


def test_a_process_about_to_leave(tmp_path):
    with private_folder(tmp_path) as folder:
        discard_folders()
        assert not folder.exists()


def test_a_place_that_is_none(tmp_path):
    assert remove_abandoned(tmp_path / "none") == 0


def test_a_full_disk(tmp_path, monkeypatch):
    def refuse(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(temporary.tempfile, "mkdtemp", refuse)
    with pytest.raises(OutputError, match="No space left on device"), private_folder(tmp_path):
        pass
