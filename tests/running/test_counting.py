"""Bytes that a rank sends to the others, counted."""

import numpy as np

from evener.plans.partition import Partition
from evener.running.comm import run_threads
from evener.running.counting import CountedComm, bytes_in


def test_values_have_the_bytes_of_their_numbers():
    assert bytes_in([1, 2.5, (None, "four"), {"a": np.zeros(3, np.int16)}]) == 8 + 8 + 4 + 1 + 6
    assert bytes_in(Partition(np.zeros(4, np.int32), 2)) == 4 * 4 + 8


def test_each_call_counts_what_it_sends_to_others():
    def work(own):
        comm, seen = CountedComm(own), []

        def note(result=None):
            seen.append(comm.sent)
            comm.sent = 0
            return result

        assert note(comm.allgather(comm.rank)) == [0, 1, 2]
        assert note(comm.bcast("word" if comm.rank == 1 else "", 1)) == "word"
        assert note(comm.exchange([1, 2, 3])) == [comm.rank + 1] * 3
        note(comm.barrier())
        note(comm.rest())
        if comm.rank == 0:
            comm.send(bytearray(5), 1)
        elif comm.rank == 1:
            assert comm.receive(bytearray(9), 0) == 5
        note()
        out, into = np.full(4, comm.rank, np.int32), np.empty(4, np.int32)
        swap = comm.swap({(comm.rank + 1) % 3: out}, {(comm.rank - 1) % 3: into})
        for _ in range(2):
            swap.start()
            swap.finish()
            swap.settle()
        note()
        assert (into == (comm.rank - 1) % 3).all()
        sized = np.zeros(32, np.uint8)
        sized[:8].view(np.int64)[0] = 11
        other = {comm.rank ^ 1: sized} if comm.rank < 2 else {}
        into = {rank: buffer.copy() for rank, buffer in other.items()}
        swap = comm.swap(other, into, sized=True)
        swap.start()
        swap.finish()
        swap.settle()
        note()
        assert comm.beside() == (0, 3)
        assert comm.memory(8).data.size == 8
        return seen

    assert run_threads(3, work) == [
        [16, 0, 16, 0, 0, 5, 32, 11],
        [16, 8, 16, 0, 0, 0, 32, 11],
        [16, 0, 16, 0, 0, 0, 32, 0],
    ]
