"""Threads play ranks: what they say arrives, and one that fails stops all."""

import threading

import numpy as np
import pytest

from evener.errors import ToolError, UsageError
from evener.running import comm as comm_module
from evener.running.comm import run_threads
from evener.running.failures import Names
from evener.running.spreading import move_rows, moved_rows


def test_everything_arrives_at_every_rank():
    def work(comm):
        all_of = comm.allgather(comm.rank * 10)
        sent = comm.exchange([(comm.rank, to) for to in range(comm.size)])
        comm.barrier()
        return all_of, comm.bcast(comm.rank + 7, root=1), sent

    for rank, (all_of, root, sent) in enumerate(run_threads(3, work)):
        assert all_of == [0, 10, 20]
        assert root == 8
        assert sent == [(0, rank), (1, rank), (2, rank)]


def test_a_rank_that_fails_stops_all():
    def work(comm):
        if comm.rank == 2:
            raise ZeroDivisionError("rank 2")
        comm.barrier()

    with pytest.raises(ZeroDivisionError, match="rank 2"):
        run_threads(4, work)
    with pytest.raises(UsageError):
        run_threads(0, work)


def test_bytes_from_one_rank_to_another():
    def work(comm):
        buffer = bytearray(8)
        if comm.rank == 0:
            comm.send(bytearray(b"five"), 2)
            comm.send(bytearray(), 2)
        counts = [comm.receive(buffer, 0) for _ in range(2)] if comm.rank == 2 else []
        comm.rest()
        return counts, bytes(buffer[:4])

    assert run_threads(3, work)[2] == ([4, 0], b"five")


def test_rows_move_to_where_sizes_put_them():
    rng = np.random.default_rng(5101)
    whole = rng.random((23, 3))
    for _ in range(10):
        old, new = (rng.multinomial(23, rng.dirichlet(np.ones(4))) for _ in range(2))
        ends = np.cumsum(old)

        def work(comm, old=old, new=new, ends=ends):
            own = slice(ends[comm.rank] - old[comm.rank], ends[comm.rank])
            return move_rows(comm, (whole[own], np.arange(23)[own]), old, new)

        parts = run_threads(4, work)
        assert [len(part) for part, _ in parts] == new.tolist()
        assert np.array_equal(np.concatenate([part for part, _ in parts]), whole)
        owner = [np.repeat(np.arange(4), sizes) for sizes in (old, new)]
        assert moved_rows(old, new) == int((owner[0] != owner[1]).sum())


def test_a_rank_that_fails_wakes_those_that_wait_for_its_message():
    def work(comm):
        buffers = {1 - comm.rank: np.zeros(3)}
        swap = comm.swap({1 - comm.rank: np.ones(3)}, buffers)
        if comm.rank == 1:
            raise MemoryError("as when an array does not fit")
        swap.start()
        swap.finish()

    with pytest.raises(MemoryError, match="does not fit"):
        run_threads(2, work)


@pytest.mark.parametrize("how", ["barrier", "swap"])
def test_a_rank_that_does_not_answer_is_named(how):
    leave = threading.Event()

    def work(comm):
        if comm.rank == 2:
            leave.wait(20)
        elif how == "barrier":
            comm.barrier()
        else:
            swap = comm.swap({}, {2: np.zeros(3)})
            swap.start()
            swap.finish()

    with pytest.raises(ToolError, match=r"rank 2 \(gpu0\) has not answered for 0.2\d* s"):
        run_threads(3, work, timeout=0.2, names=Names(("cpu0", "cpu1", "gpu0")))
    leave.set()


def test_a_rank_that_computes_for_ever_does_not_hold_up_the_failure_of_another(monkeypatch):
    monkeypatch.setattr(comm_module, "GRACE", 0.1)
    leave = threading.Event()

    def work(comm):
        if comm.rank == 0:
            raise ZeroDivisionError("rank 0")
        leave.wait(20)

    with pytest.raises(ZeroDivisionError, match="rank 0"):
        run_threads(2, work)
    leave.set()
