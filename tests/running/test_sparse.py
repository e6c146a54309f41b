"""Values of some ghosts arrive at their owners, in messages no longer than they need."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError
from evener.plans.partition import Partition
from evener.running.comm import run_threads
from evener.running.distributing import distribute
from evener.running.halos import Halo
from evener.running.sparse import SparseReduce, room
from tests.running.halo_cases import some_to_owners


@given(st.integers(0, 2**31), st.sampled_from([1, 2, 5]), st.sampled_from(["f8", "i4", "u2", "i1"]))
def test_owners_get_the_values_of_some_ghosts(seed, k, dtype):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 30))
    graph = ev.DirectedGraph.from_arcs(n, *rng.integers(0, max(n, 1), (2, 3 * n)))
    parts = distribute(graph, Partition(rng.integers(0, k, n), k), want="both", threads=1)
    assert all(run_threads(k, lambda comm: some_to_owners(comm, parts, dtype, seed)))


def test_only_what_is_used_of_a_buffer_is_sent_and_nothing_is_made_anew():
    def work(comm):
        sends, receives = {1 - comm.rank: np.array([0, 2])}, {1 - comm.rank: slice(3, 5)}
        made = SparseReduce(comm, sends, receives, np.dtype("f4"))
        held = made.nbytes
        found = []
        for ghosts in ([], [4], [3, 4]):
            numbers = np.array(ghosts, np.uint32)
            made.settle()
            made.pack(numbers, numbers.astype("f4"))
            made.start()
            made.finish()
            lengths = [int(buffer[:8].view(np.int64)[0]) for buffer in made._incoming.values()]
            found.append((lengths, [(t.tolist(), v.tolist()) for t, v in made.taken()]))
            assert made.sent_bytes == 8 * len(ghosts)
            assert made.sent == {1 - comm.rank: len(ghosts)}
        return found, held == made.nbytes == 2 * room(2, 4) + 8

    for found, fixed in run_threads(2, work):
        assert found == [([8], []), ([20], [([2], [4.0])]), ([24], [([0, 2], [3.0, 4.0])])]
        assert fixed


def test_what_cannot_be_sent_is_refused():
    def work(comm):
        halo = Halo(comm, 3, {}, {})
        for dtype in ("c16", "S3", object):
            with pytest.raises(InputError, match="must have 1, 2, 4 or 8 bytes"):
                halo.sparse_of(dtype)
        with pytest.raises(InputError, match="a range of local numbers"):
            SparseReduce(comm, {}, {0: np.array([4, 3])}, np.dtype("f8"))
        return True

    assert run_threads(1, work) == [True]
