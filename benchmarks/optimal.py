"""Every preset and objective beside the optimum, on graphs small enough for a proof.

    python benchmarks/optimal.py            # the table that docs/partitioner.md shows

The optimum comes from an integer program (HiGHS, through SciPy): x[v, b] says that v is in block b,
whose weight stays within both limits; y[e] that edge e is cut; z[v, b] that v is sent to b.
Evener's objective is counted after enforcement. Nothing is drawn but the graphs, from fixed seeds.
"""

import argparse

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.portfolio import best_blocks
from evener.partitioning.requests import OBJECTIVES, PRESETS
from evener.plans import metrics
from evener.plans.partition import Contract, Partition

SHARES = {"1:1:1": (1, 1, 1), "1:1:4": (1, 1, 4), "1:2:3": (1, 2, 3)}
EPSILON = 0.1
SEEDS = (21, 22, 23)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument(
        "--small", action="store_true", help="one seed, few vertices: does it still run?"
    )
    args = parser.parse_args()
    seeds = SEEDS[: 1 if args.small else args.seeds]
    size = {"n": 11} if args.small else {}
    print("| graph | objective | " + " | ".join(f"`{preset}`" for preset in PRESETS) + " |")
    print("| --- | --- | " + " | ".join("---" for _ in PRESETS) + " |")
    for name, make in GRAPHS.items():
        for objective in OBJECTIVES:
            gaps = {preset: [] for preset in PRESETS}
            for seed in seeds:
                for shares in SHARES.values():
                    graph = make(seed, **size)
                    contract = contract_of(graph, shares)
                    best = least(graph, contract, objective)
                    for preset, found in gaps.items():
                        found.append(ours(graph, contract, preset, objective) / best)
            cells = [f"{np.mean(found):.2f}, {max(found):.2f}" for found in gaps.values()]
            print(f"| {name} | `{objective}` | " + " | ".join(cells) + " |", flush=True)


def mesh(seed, n=20):
    """A Delaunay graph of random points."""
    return delaunay(n, seed=seed)


def bare_mesh(seed, n=20):
    """The same without coordinates."""
    graph = delaunay(n, seed=seed)
    return Graph(graph.xadj, graph.adjncy)


def weighted(seed, n=16):
    """A sparse random graph; vertices weigh 1 to 3, edges 0 to 4."""
    rng = np.random.default_rng(seed)
    u = np.r_[np.arange(n - 1), rng.integers(0, n, n // 2)]
    v = np.r_[np.arange(1, n), rng.integers(0, n, n // 2)]
    return Graph.from_edges(n, u, v, weights=rng.integers(0, 5, u.size), vwgt=rng.integers(1, 4, n))


GRAPHS = {
    "Delaunay, 20 vertices": mesh,
    "the same without coordinates": bare_mesh,
    "random, weighted, 16 vertices": weighted,
}


def contract_of(graph, shares, epsilon=EPSILON):
    """Both limits: epsilon about each target, to the next whole number outside."""
    targets = graph.total_weight * np.array(shares) / sum(shares)
    low = np.minimum(np.floor(targets), np.ceil((1 - epsilon) * targets))
    high = np.maximum(np.ceil(targets), np.floor((1 + epsilon) * targets))
    return Contract(targets, low, high)


def ours(graph, contract, preset, objective):
    """The objective of Evener's partition after enforcement."""
    part = best_blocks(graph, contract, preset=preset, objective=objective).part
    return value(graph, enforce(graph, Partition(part, contract.k), contract).partition, objective)


def value(graph, partition, objective):
    """Return what the objective counts."""
    between = metrics.quotient(graph, partition)
    if objective == "cut":
        return metrics.edge_cut(between)
    volumes = metrics.comm_volumes(between)
    return float(volumes.sum() if objective == "total_volume" else volumes.max())


def least(graph, contract, objective):
    """Return the least value of the objective over all partitions that keep the contract."""
    n, k = graph.n, contract.k
    u = np.repeat(np.arange(n), graph.degrees)
    once = u < graph.adjncy
    ends = np.column_stack([u, graph.adjncy])[once]
    program = IntegerProgram(n, k, len(ends))
    program.blocks(graph.weights(), contract)
    if objective == "cut":
        program.cuts(ends)
        costs = np.zeros(program.size)
        costs[program.y] = graph.edge_weights()[once]
    else:
        program.sends(np.vstack([ends, ends[:, ::-1]]))
        costs = np.zeros(program.size)
        if objective == "total_volume":
            costs[program.z.ravel()] = 1
        else:
            program.volumes(np.maximum(graph.degrees.clip(max=k - 1), 1))
            costs[program.most] = 1
    return program.solved(costs)


class IntegerProgram:
    """Variables x (n, k), y (m,), z (n, k), t (n, k), most, as columns; rows one by one."""

    def __init__(self, n, k, m):
        sizes = np.cumsum([0, n * k, m, n * k, n * k])
        self.x, self.z, self.t = (
            np.arange(sizes[i], sizes[i] + n * k).reshape(n, k) for i in (0, 2, 3)
        )
        self.y = np.arange(sizes[1], sizes[1] + m)
        self.most = int(sizes[4])
        self.size = self.most + 1
        self.rows, self.low, self.high = [], [], []

    def row(self, columns, factors, low=-np.inf, high=np.inf):
        self.rows.append((columns, factors))
        self.low.append(low)
        self.high.append(high)

    def blocks(self, weights, contract):
        """Every vertex in one block, none empty, within both limits."""
        for v in range(len(self.x)):
            self.row(self.x[v], 1, 1, 1)
        for b in range(contract.k):
            self.row(self.x[:, b], weights, contract.low[b], contract.high[b])
            self.row(self.x[:, b], 1, 1)

    def cuts(self, ends):
        """An edge is cut where one of its ends is in a block and the other is not."""
        for e, (u, v) in enumerate(ends):
            for b in range(self.x.shape[1]):
                for one, other in ((u, v), (v, u)):
                    columns = [self.y[e], self.x[one, b], self.x[other, b]]
                    self.row(columns, [1, -1, 1], 0)

    def sends(self, ends):
        """A vertex is sent to every block of a neighbour that is not its own."""
        for v, u in ends:
            for b in range(self.x.shape[1]):
                self.row([self.z[v, b], self.x[u, b], self.x[v, b]], [1, -1, 1], 0)

    def volumes(self, most):
        """t[v, p] is what v sends if it is in p; no block sends more than `most` says."""
        n, k = self.x.shape
        for v in range(n):
            for p in range(k):
                columns = [self.t[v, p], *self.z[v], self.x[v, p]]
                self.row(columns, [1, *[-1] * k, -int(most[v])], -int(most[v]))
        for p in range(k):
            self.row([self.most, *self.t[:, p]], [1, *[-1] * n], 0)

    def solved(self, costs):
        matrix = lil_array((len(self.rows), self.size))
        for i, (columns, factors) in enumerate(self.rows):
            matrix[[i], columns] = factors
        whole = np.zeros(self.size)
        whole[self.x.ravel()] = 1
        high = np.ones(self.size)
        high[self.t.ravel()] = high[self.most] = np.inf
        found = milp(
            costs,
            integrality=whole,
            bounds=Bounds(0, high),
            constraints=LinearConstraint(matrix.tocsr(), self.low, self.high),
            options={"mip_rel_gap": 0.0},
        )
        assert found.success, found.message
        return float(found.fun)


if __name__ == "__main__":
    main()
