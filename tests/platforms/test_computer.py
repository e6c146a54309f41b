"""A computer as described: what is left of it for a process, and who has which memory."""

import pytest

from evener.errors import InputError
from evener.platforms import computer as room
from evener.platforms.computer import (
    GIB,
    Computer,
    ComputerCore,
    ComputerGpu,
    LocalMemory,
    cpus_in,
    memory_of_cores,
    readable_memory,
    restricted,
    with_gpus,
)

CORES = tuple(ComputerCore((i, i + 4), i // 2, i // 2) for i in range(4))
MEMORIES = (
    LocalMemory(100.0, frozenset({0, 1, 4, 5})),
    LocalMemory(300.0, frozenset({2, 3, 6, 7})),
)
BOTH = Computer("a", cores=CORES, memories=MEMORIES)


def test_only_cores_that_may_be_used_by_their_first_processor():
    left = restricted(BOTH, {4, 1, 3})
    assert [core.cpus for core in left.cores] == [(4,), (1,), (3,)]
    assert [core.cpu for core in restricted(BOTH, range(8), 3).cores] == [0, 1, 2]
    with pytest.raises(InputError, match="this process may not use any core of the computer"):
        restricted(BOTH, {99})


def test_each_core_has_a_share_of_its_node():
    assert memory_of_cores(BOTH) == {0: 50, 1: 50, 2: 150, 3: 150}
    assert memory_of_cores(restricted(BOTH, {0, 2, 3})) == {0: 100, 2: 150, 3: 150}


def test_memory_local_to_no_core_is_shared_by_all():
    assert memory_of_cores(restricted(BOTH, {0, 1})) == {0: 200, 1: 200}
    far = Computer("a", cores=CORES[:2], memories=(*MEMORIES[:1], LocalMemory(60.0, frozenset())))
    assert memory_of_cores(far) == {0: 80, 1: 80}


def test_a_core_without_local_memory_means_equal_shares():
    assert memory_of_cores(Computer("a", cores=CORES, memories=MEMORIES[:1])) == dict.fromkeys(
        range(4), 25
    )


@pytest.mark.parametrize("usable", [40.0, 400.0, 4000.0])
def test_the_sum_is_what_may_be_used(usable):
    shares = memory_of_cores(Computer("a", cores=CORES, memories=MEMORIES, usable=usable))
    assert sum(shares.values()) == pytest.approx(usable)
    assert shares[3] == pytest.approx(3 * shares[0])
    unsaid = memory_of_cores(Computer("a", cores=CORES, usable=usable))
    assert unsaid == dict.fromkeys(range(4), usable / 4)


@pytest.mark.parametrize(
    ("size", "gib"),
    [
        (12638259200.0, 11.77),  # 11.770296 GiB
        (81559 * 2.0**20, 79.64),  # of an H100, 79.647 GiB: not 79.65
        (1024 * GIB - 1, 1023),
        (16 * GIB, 16),
        (3 * (16 * GIB / 3) - 1e-5, 16),  # shares that add up to a little less
        (0.25, 0.25 / GIB),
    ],
)
def test_memory_in_four_digits_never_more(size, gib):
    found = readable_memory(size)
    assert found / GIB == pytest.approx(gib, rel=1e-3)
    assert found <= size + 1e-4
    if size > 1:
        assert found == gib * GIB


def test_memory_that_is_not_known():
    assert memory_of_cores(Computer("a", cores=CORES)) == dict.fromkeys(range(4), 0.0)


def test_gpus_are_near_what_their_address_is():
    near = {"0000:3b:00.0": frozenset({0, 1})}
    gpus = (ComputerGpu(0, bus="0000:3b:00.0"), ComputerGpu(1, bus="0000:af:00.0"))
    assert [gpu.cpus for gpu in with_gpus(Computer(near=near), gpus).gpus] == [{0, 1}, set()]


def test_more_gpus_than_can_be(monkeypatch):
    monkeypatch.setattr(room, "MOST_PAIRS", 4)
    assert len(with_gpus(BOTH, [ComputerGpu(0)]).gpus) == 1
    with pytest.raises(InputError, match="2 GPUs cannot be in a computer of 4 cores"):
        with_gpus(BOTH, [ComputerGpu(0), ComputerGpu(1)])


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0-3,8", {0, 1, 2, 3, 8}), ("5\n", {5}), ("", set()), ("3-1", set()), ("0-x", set()),
     ("0-99999999", set()), ("0-999999", set())],
)  # fmt: skip
def test_lists_of_processors(text, cpus):
    assert cpus_in(text) == cpus
