"""What was written to a pipe is waited for until it is read."""

import os
import threading
import time

import pytest

from evener.running import pipes
from evener.running.pipes import wait_until_read


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield read, write
    os.close(read)
    os.close(write)


def test_an_empty_pipe_and_a_file_are_not_waited_for(pipe, tmp_path):
    assert wait_until_read(pipe[1])
    with (tmp_path / "file").open("w") as file:
        file.write("text")
        file.flush()
        assert wait_until_read(file.fileno())


def test_it_returns_once_all_is_read(pipe):
    os.write(pipe[1], b"said\n")
    found = []

    def reads():
        time.sleep(0.05)
        found.append(os.read(pipe[0], 100))

    reader = threading.Thread(target=reads)
    reader.start()
    assert wait_until_read(pipe[1])
    reader.join()
    assert found == [b"said\n"]


def test_a_reader_that_never_reads_does_not_hold_up_the_end(pipe, monkeypatch):
    monkeypatch.setattr(pipes, "LONGEST", 0.02)
    os.write(pipe[1], b"said\n")
    assert not wait_until_read(pipe[1])
