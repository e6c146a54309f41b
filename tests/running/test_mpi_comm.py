"""What of MpiComm needs no MPI; tests/mpi has the rest."""

import pytest

from evener.running.mpi_comm import MpiComm


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
