"""What of MpiComm needs no MPI; tests/mpi has the rest."""

import os
import threading
import time

import pytest

from evener.running import mpi_comm
from evener.running.mpi_comm import MpiComm, wait_until_read


@pytest.mark.parametrize(
    ("kinds", "takes"),
    [("mpi,system", False), ("system,cuda:device:host", True), ("cuda", True), (None, False)],
)
def test_mpi_takes_device_memory_where_it_says_so(kinds, takes):
    class Info(dict):
        Get = dict.get
        Free = dict.clear

    class Group:
        def Get_info(self):  # noqa: N802
            return Info({} if kinds is None else {"mpi_memory_alloc_kinds": kinds})

    comm = object.__new__(MpiComm)
    comm._comm = Group()
    assert comm.takes_device_memory is takes


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
    monkeypatch.setattr(mpi_comm, "LONGEST", 0.02)
    os.write(pipe[1], b"said\n")
    assert not wait_until_read(pipe[1])
