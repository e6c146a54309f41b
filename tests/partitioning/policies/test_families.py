"""The policies of [Guo16]: against loops that read as the paper's sentences do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InfeasibleError, InputError, UsageError
from evener.graphs.directed import DirectedGraph
from evener.partitioning.policies import families
from evener.partitioning.policies.families import (
    EVALUATED,
    NAMES,
    Footprint,
    least_share,
    paper_ratio,
    policy_blocks,
    policy_part,
)
from evener.platforms.platform import Device, Level, Platform


def machines(n_machines, *, memory=None, gpu_speed=20.0, cpu_speeds=(1.0,)):
    """Machines m0, m1, ... of some CPUs and a GPU each."""
    devices = []
    for i in range(n_machines):
        for j, speed in enumerate(cpu_speeds):
            devices.append(Device(f"m{i}.cpu{j}", speed, at=f"m{i}"))
        devices.append(Device(f"m{i}.gpu", gpu_speed, kind="cuda", memory=memory, at=f"m{i}"))
    return Platform(tuple(devices), (Level("cluster"), Level("node")))


def skewed(n=2000, arcs=20000, seed=1):
    rng = np.random.default_rng(seed)
    tails, heads = ((n * rng.random(arcs) ** 2).astype(int) for _ in range(2))
    return DirectedGraph.from_arcs(n, tails, heads)


@st.composite
def digraphs(draw):
    n = draw(st.integers(1, 12))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    pairs = draw(st.lists(ends, max_size=30))
    return DirectedGraph.from_arcs(n, [u for u, _ in pairs], [v for _, v in pairs])


def slow_bytes(graph, part, k, costs):
    """Bytes of each block, from sets of messages."""
    sent, received = [set() for _ in range(k)], [set() for _ in range(k)]
    needed = np.zeros(k)
    for v in range(graph.n):
        for u in graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]].tolist():
            needed[part[v]] += costs.arc
            if part[u] != part[v]:
                sent[part[v]].add(u)
                received[part[u]].add((u, part[v]))
        needed[part[v]] += costs.vertex
    for p in range(k):
        needed[p] += costs.outbox * len(sent[p]) + costs.inbox * len(received[p])
    return needed


def slow_pg(graph, weights, limits, costs):
    """PG as [Guo16] tells it: search for the least load, drop a GPU that might not hold more.

    costs: of the messages the part that counts of the most that there can be.
    """
    n, k = graph.n, len(weights)
    out, into = np.diff(graph.xadj), np.diff(graph.arcs_in().xadj)
    part, blocks, left = [], [[] for _ in range(k)], set(range(k))
    for v in range(n):
        while True:
            if not left:
                return v, part
            p = min(left, key=lambda q: (sum(out[u] for u in blocks[q]) / weights[q], q))
            ours = [*blocks[p], v]
            leaving, reaching = sum(out[u] for u in ours), sum(into[u] for u in ours)
            most = costs.vertex * len(ours) + costs.arc * leaving
            most += costs.outbox * min(leaving, n - len(ours))
            most += costs.inbox * min(reaching, (k - 1) * len(ours))
            if most <= limits[p]:
                break
            left.remove(p)
        blocks[p].append(v)
        part.append(p)
    return -1, part


@given(digraphs(), st.integers(1, 3), st.integers(50, 2000))
def test_pg_is_the_plain_scan(graph, n_machines, memory):
    platform = machines(n_machines, memory=float(memory), gpu_speed=3.0, cpu_speeds=(1.0, 2.0))
    found = policy_blocks(graph, platform, "C-PG")
    weights = [device.speed / 1.5 for device in platform.devices]
    limits = [np.inf if device.kind == "cpu" else memory for device in platform.devices]

    def slow(worst):
        costs = Footprint()
        counted = replace(costs, outbox=worst * costs.outbox, inbox=worst * costs.inbox)
        failed, part = slow_pg(graph, weights, limits, counted)
        assert failed == -1
        return part

    def fits(worst):
        return (slow_bytes(graph, slow(worst), 3 * n_machines, Footprint())[2::3] <= memory).all()

    assert found.partition.part.tolist() == slow(least_share(fits, 0.0))
    assert (found.n_bytes[2::3] <= memory).all()


@given(digraphs(), st.integers(1, 4), st.integers(0, 99))
def test_bytes_are_those_of_sets_of_messages(graph, k, seed):
    part = np.random.default_rng(seed).integers(0, k, graph.n).astype(np.int32)
    costs = Footprint(13.0, 5.0, 7.0, 11.0)
    assert costs.of_blocks(graph, part, k).tolist() == slow_bytes(graph, part, k, costs).tolist()


@given(
    st.lists(st.integers(0, 9), max_size=20), st.lists(st.integers(0, 5), min_size=1, max_size=4)
)
def test_parts_are_filled_as_the_paper_says(work, shares):
    shares = np.array([*shares, 1.0])
    part = families.filled(np.arange(len(work)), np.array(work, np.int64), shares)
    expected, p, sum_of_part = [], 0, 0
    for one in work:
        while p < shares.size - 1 and sum_of_part >= shares[p] / shares.sum() * sum(work):
            p, sum_of_part = p + 1, 0
        expected.append(p)
        sum_of_part += one
    assert part.tolist() == expected


def test_o_fills_machines_in_file_order_and_h_gives_cpus_the_highest_degrees():
    graph, platform = skewed(), machines(4)
    part = policy_blocks(graph, platform, "DP-OH").partition.part
    assert (np.diff(part // 2) >= 0).all()  # machine by machine
    degrees = np.diff(graph.xadj)
    for i in range(4):
        cpu, gpu = degrees[part == 2 * i], degrees[part == 2 * i + 1]
        assert cpu.min() >= gpu.max()
        share = cpu.sum() / (cpu.sum() + gpu.sum())
        assert 1 / 21 <= share <= 1 / 21 + degrees.max() / (cpu.sum() + gpu.sum())
    part = policy_blocks(graph, platform, "DP-OL").partition.part
    assert degrees[part == 0].max() <= degrees[part == 1].min()


def test_pd_splits_the_whole_graph_first():
    graph, platform = skewed(), machines(4)
    part = policy_blocks(graph, platform, "PD-HO").partition.part
    degrees = np.diff(graph.xadj)
    assert degrees[part % 2 == 0].min() >= degrees[part % 2 == 1].max()
    gpus = [int(degrees[part == p].sum()) for p in (1, 3, 5)]
    quarter = degrees[part % 2 == 1].sum() / 4
    assert all(quarter <= one <= quarter + degrees.max() for one in gpus)


@pytest.mark.parametrize("policy", NAMES)
def test_every_policy_is_deterministic_and_uses_every_device(policy):
    graph, platform = skewed(), machines(3)
    first = policy_blocks(graph, platform, policy, seed=3)
    assert np.array_equal(
        first.partition.part, policy_blocks(graph, platform, policy, seed=3).partition.part
    )
    used = np.unique(first.partition.part).size
    # Chunks of a thousand vertices of two thousand go to two devices.
    assert used == (2 if policy == "C-chunk" else 6) or policy in ("C-MI", "C-MW")
    assert (first.cpu_share is None) == policy.startswith("C-")


def test_random_parts_are_equally_likely_whatever_the_speeds():
    counts = np.bincount(policy_blocks(skewed(20000), machines(2), "C-R").partition.part)
    assert abs(counts - 5000).max() < 300


@pytest.mark.parametrize("policy", [name for name in EVALUATED if not name.startswith("C")])
def test_the_share_grows_until_gpus_hold_their_blocks(policy):
    graph = skewed()
    free = policy_blocks(graph, machines(2), policy)
    assert free.cpu_share == pytest.approx(1 / 21)
    memory = float(free.n_bytes[1::2].max()) * 0.6
    tight = policy_blocks(graph, machines(2, memory=memory), policy)
    assert tight.cpu_share > free.cpu_share
    assert (tight.n_bytes[1::2] <= memory).all()
    # Little less would not do.
    with pytest.raises(InfeasibleError, match="more than the device has"):
        policy_blocks(graph, machines(2, memory=memory), policy, cpu_share=tight.cpu_share - 0.02)


FILLING = [name for name in EVALUATED if name != "C-R"] + ["C-LDG", "C-MW", "C-MI"]


@pytest.mark.parametrize("policy", FILLING)
def test_every_policy_fills_the_gpus_by_the_same_rule(policy):
    """The fullest GPU holds its block, messages counted exactly, and has next to nothing left."""
    graph = skewed()
    memory = float(policy_blocks(graph, machines(2), policy).n_bytes[1::2].max()) * 0.6
    found = policy_blocks(graph, machines(2, memory=memory), policy)
    assert 0 <= np.nanmin(found.memory_left) < 0.05
    assert np.allclose(found.memory_left[1::2], 1 - found.n_bytes[1::2] / memory)
    assert np.isnan(found.memory_left[0::2]).all()


def unlike():
    """Two machines of a kind with a GPU 20 times its CPU, and one with a faster CPU and 2 times."""
    rows = [(1.0, 20.0), (1.01, 20.0), (4.0, 8.0)]
    devices = [
        Device(f"m{i}.{name}", speed, kind=kind, at=f"m{i}")
        for i, pair in enumerate(rows)
        for name, kind, speed in zip(("cpu", "gpu"), ("cpu", "cuda"), pair, strict=True)
    ]
    return Platform(tuple(devices), (Level("cluster"), Level("node")))


@pytest.mark.parametrize(("ratio", "r"), [(None, (19.9, 2.0)), ((10.0, 5.0), (10.0, 5.0))])
@pytest.mark.parametrize("policy", ["DP-RH", "DP-RL", "C-PG"])
def test_each_kind_of_machine_has_an_r_of_its_own(policy, ratio, r):
    graph, platform = skewed(20000, 200000), unlike()
    found = policy_blocks(graph, platform, policy, ratio=ratio)
    if ratio:
        assert found.ratios == ratio
    arcs = np.bincount(found.partition.part, weights=graph.degrees, minlength=6)
    assert arcs[1] / arcs[0] == pytest.approx(r[0], rel=0.1)
    assert arcs[5] / arcs[4] == pytest.approx(r[1], rel=0.1)
    if policy == "C-PG":  # all finish together
        assert arcs[4] / arcs[0] == pytest.approx(4, rel=0.1)


def test_as_many_r_as_kinds_are_asked_for():
    graph = skewed(50, 100)
    with pytest.raises(UsageError, match=r"there are 2 kinds of machines but 1 value of r"):
        policy_blocks(graph, unlike(), "C-PG", ratio=10.0)
    with pytest.raises(UsageError, match=r"1 kind of machines but 2 values of r"):
        policy_blocks(graph, machines(2), "C-PG", ratio=(10.0, 5.0))


def test_random_placement_that_overflows_a_gpu_is_refused():
    with pytest.raises(InfeasibleError, match=r"C-R: the block of m0\.gpu needs"):
        policy_blocks(skewed(), machines(2, memory=1000.0), "C-R")
    with pytest.raises(InfeasibleError, match="no device has memory"):
        gpus = Platform(tuple(Device(f"g{i}", 1.0, kind="cuda", memory=99.0) for i in range(2)))
        policy_blocks(skewed(), gpus, "C-PG")


def test_without_gpus_the_share_is_one():
    platform = Platform(tuple(Device(f"c{i}", 1.0) for i in range(4)))
    found = policy_blocks(skewed(), platform, "DP-OH")
    assert found.cpu_share == 1.0
    assert np.unique(found.partition.part).size == 4


def test_unknown_words_are_refused():
    graph, platform = skewed(50, 100), machines(1)
    with pytest.raises(UsageError, match="no policy 'DP-XX'"):
        policy_blocks(graph, platform, "DP-XX")
    with pytest.raises(UsageError, match="no ratio"):
        policy_blocks(graph, platform, "C-PG", ratio="old")
    with pytest.raises(UsageError, match="ratio r must be above zero"):
        policy_blocks(graph, platform, "C-PG", ratio=0)
    with pytest.raises(UsageError, match=r"share \(cpu_share\) must lie in"):
        policy_blocks(graph, platform, "DP-OH", cpu_share=1.5)
    with pytest.raises(UsageError, match="no level 'rack'"):
        policy_blocks(graph, platform, "DP-OH", level="rack")


@pytest.mark.parametrize("policy", NAMES)
def test_the_part_alone_is_that_of_the_blocks(policy):
    graph, platform = skewed(), machines(3)
    blocks = policy_blocks(graph, platform, policy, ratio=12.0)
    assert (policy_part(graph, platform, policy, ratio=12.0) == blocks.partition.part).all()


# Table IV: arcs of G1 to G4; section IV-B: their shares on four machines.
ARCS = {"G1": 5_018_445, "G2": 101_740_632, "G3": 687_174_631, "G4": 1_047_207_019}
SHARES = {"G1": 0.09, "G2": 0.06, "G3": 0.04, "G4": 0.04}


@pytest.mark.parametrize("graph", ARCS)
def test_shares_of_the_paper(graph):
    share = 1 / (paper_ratio(ARCS[graph] / 4) + 1)
    assert int(share * 100) / 100 == SHARES[graph]


def test_ratio_by_pieces():
    assert paper_ratio(50e6) == pytest.approx(19.3)
    assert paper_ratio(51e6) == paper_ratio(125e6) == 19.5
    assert paper_ratio(126e6) == 23.7
    with pytest.raises(InputError, match="not defined"):
        paper_ratio(float("nan"))


def test_least_share_that_fits():
    assert least_share(lambda share: share >= 0.35, 0.04) == pytest.approx(0.35, abs=1e-5)
    assert least_share(lambda share: True, 0.04) == 0.04
    assert least_share(lambda share: False, 0.04) == pytest.approx(1.0)
