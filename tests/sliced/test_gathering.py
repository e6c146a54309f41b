"""Arrays that go between ranks: all there, in the order of ranks, counted; errors on all ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError, ToolError
from evener.running.comm import run_threads
from evener.running.counting import CountedComm
from evener.sliced import gathering
from evener.sliced.gathering import agreed, exchanged, gathered, scattered


def drawn(ranks, seed, dtype):
    """Return what each rank has for each other: entries of two numbers."""
    rng = np.random.default_rng(seed)
    return [
        [rng.integers(0, 99, (rng.integers(0, 4), 2)).astype(dtype) for _ in range(ranks)]
        for _ in range(ranks)
    ]


@given(ranks=st.integers(1, 5), seed=st.integers(0, 99), dtype=st.sampled_from(["i4", "f8", "?"]))
def test_exchanges(ranks, seed, dtype):
    parts, root = drawn(ranks, seed, dtype), seed % ranks

    def work(comm):
        counted = CountedComm(comm)
        own = parts[comm.rank]
        got, came = exchanged(counted, np.concatenate(own), [len(part) for part in own])
        assert list(came) == [len(sent[comm.rank]) for sent in parts]
        assert (got == np.concatenate([sent[comm.rank] for sent in parts])).all()
        others = sum(part.nbytes for rank, part in enumerate(own) if rank != comm.rank)
        assert counted.sent == others + 8 * (ranks - 1)
        whole = gathered(comm, own[0], root)
        expected = np.concatenate([sent[0] for sent in parts])
        assert (whole == expected).all() if comm.rank == root else whole.shape == (0, 2)
        given = np.concatenate(parts[root]) if comm.rank == root else np.empty((0, 2), dtype)
        assert (scattered(comm, given, [len(p) for p in parts[root]], root)
                == parts[root][comm.rank]).all()  # fmt: skip

    run_threads(ranks, work)


def test_long_messages_go_in_pieces(monkeypatch):
    monkeypatch.setattr(gathering, "MESSAGE_BYTES", 16)

    def work(comm):
        return gathered(comm, np.arange(comm.rank * 7, dtype=np.int64), 1).tolist()

    assert run_threads(3, work)[1] == [*range(7), *range(14)]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (InputError("it is bad", hint="Mend it."), InputError, "rank 1: it is bad\nMend it."),
        (InputError("rank 1: bad"), InputError, "rank 1: bad"),
        (MemoryError("16 GB"), ToolError, "rank 1 has run out of memory: 16 GB"),
        (TypeError("what"), ToolError, "rank 1 failed: TypeError: what"),
    ],
)
def test_an_error_of_one_rank_is_raised_on_all(error, kind, words):
    def work(comm):
        def fails():
            if comm.rank in (1, 2):
                raise error
            return comm.rank

        with pytest.raises(kind) as raised:
            agreed(comm, fails)
        assert agreed(comm, lambda: comm.rank) == comm.rank
        return str(raised.value)

    assert run_threads(3, work) == [words] * 3


def test_the_same_error_on_all_ranks_names_none():
    def work(comm):
        def fails():
            raise InputError("is cut short", file="x.ecsr")

        with pytest.raises(InputError, match=r"^x\.ecsr: is cut short$"):
            agreed(comm, fails)

    run_threads(2, work)
