"""Matrix products on nodes with and without GPUs ([Cla14]_, 5.2.3), emulated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evener.arrays import IntArray
from evener.platforms.models.examples import curve_set
from evener.platforms.models.fitting import SpeedModel
from evener.reproducing.findings import Criterion, Finding, Panel, PaperResult, Plot, Row
from evener.reproducing.fupermod_balancers import EPSILON, even_sizes, spread
from evener.reproducing.fupermod_partial import CPM_STEPS
from evener.running.emulation import EmulatedMachine
from evener.sizing import solve_sizes

HYBRID_SIZES = (15000, 30000, 45000, 60000, 75000, 90000, 120000, 180000, 240000, 300000, 360000)
HYBRID_BLOCK = 128
HYBRID_NODES = (3, 3, 2, 4, 10, 8, 10, 22, 6, 6, 6, 10)  # of each kind: 12, 50 and 28, 90 in all
KINDS = ("homogeneous", "single CPM", "multiple CPM", "FPM")
LIMITS = {"single CPM": 60000, "multiple CPM": 75000}  # the largest N that each balances
SLOWEST = "edel-1c"  # "a node from Edel cluster with 1 CPU core"
LARGE_BYTES = 0.5e12  # "in excess of 0.5 TB of data": three matrices of 8 bytes an element, we take
DID = "GEMM on 90 nodes with 432 cores and 12 GPUs; sizes set between nodes and within them"
TRIED = f"90 nodes, emulated, each with one curve; a step of the product; even within {EPSILON:.0%}"
LACKING = "no sizing within nodes; nothing is sent"


def hybrid(sizes: Sequence[int] = HYBRID_SIZES) -> PaperResult:
    """Figure 5.10: even, single-CPM, multiple-CPM and FPM on 90 nodes, some with a GPU."""
    curves = [curve for curve, count in zip(curve_set("hybrid"), HYBRID_NODES, strict=True)
              for _ in range(count)]  # fmt: skip
    models, names = [curve.model for curve in curves], [curve.name for curve in curves]
    rows = [_row(models, names, n) for n in sizes]
    lines = {name: [float(row[f"{name}_gflops"]) for row in rows] for name in KINDS}
    panel = Panel("90 nodes with and without GPUs: C = A B", "N", "GFLOPS", list(sizes), lines)
    plot = Plot("figure-5.10-hybrid", [panel])
    findings = [_slowest(rows), _limits(rows), _general(rows), _reliable(rows), _sent()]
    return PaperResult(findings, [plot], {"hybrid": rows})


def _row(models: Sequence[SpeedModel], names: Sequence[str], n: int) -> Row:
    """GFLOPS of a product of n x n matrices by sizes of every kind, and how uneven its times are.

    `last`: the slowest node with even sizes.
    """
    total = (n // HYBRID_BLOCK) ** 2
    machine = EmulatedMachine(models)
    even = even_sizes(total, len(models))
    history = _constant_steps(machine, even, CPM_STEPS)
    chosen = (even, history[1], history[-1], solve_sizes(models, total, "gpa").sizes)
    row: dict[str, float | int | str] = {"n": n, "last": names[int(machine.run(even).argmax())]}
    for name, own in zip(KINDS, chosen, strict=True):
        seconds = machine.run(own)
        whole = n / HYBRID_BLOCK * float(seconds.max())
        row[f"{name}_gflops"] = round(2 * n**3 / whole / 1e9, 1)
        row[f"{name}_spread"] = round(float(spread(seconds)), 4)
    return row


def _balanced(rows: Sequence[Row], name: str) -> list[int]:
    """The N at which a kind's times agree to EPSILON."""
    return [int(row["n"]) for row in rows if float(row[f"{name}_spread"]) <= EPSILON]


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers) or "none"


def _slowest(rows: Sequence[Row]) -> Finding:
    others = [int(row["n"]) for row in rows if row["last"] != SLOWEST]
    return Finding(
        "figure 5.10, even sizes",
        DID,
        "speed is that of the slowest, a node of Edel with one core",
        TRIED,
        f"all wait for {SLOWEST} at {len(rows) - len(others)} of {len(rows)} N; for another at "
        f"N = {_listed(others)}",
        [
            Criterion(f"{SLOWEST} is last at every N", not others),
            Criterion(
                "it is last at more than half of them", len(others) < len(rows) / 2, own=True
            ),
        ],
        LACKING,
    )


def _limits(rows: Sequence[Row]) -> Finding:
    sizes = [int(row["n"]) for row in rows]
    found = {name: _balanced(rows, name) for name in LIMITS}
    seen = "; ".join(f"{name}: {_listed(own)}" for name, own in found.items())
    return Finding(
        "figure 5.10, CPM's limits",
        DID,
        " and ".join(f"{name} balances up to N = {most:,}" for name, most in LIMITS.items()),
        f"{TRIED}; N of {_listed(sizes)}; multiple CPM {CPM_STEPS} steps",
        f"balanced at these N by {seen}",
        [
            Criterion(
                f"{name} balances every N up to {most:,} and none beyond",
                found[name] == [n for n in sizes if n <= most],
            )
            for name, most in LIMITS.items()
        ],
        LACKING,
    )


def _general(rows: Sequence[Row]) -> Finding:
    least = {name: min(float(row[f"{name}_gflops"]) / float(row["FPM_gflops"]) for row in rows)
             for name in LIMITS}  # fmt: skip
    seen = ", ".join(f"{name} {own:.2f}" for name, own in least.items())
    failing = [name for name in LIMITS if len(_balanced(rows, name)) < len(rows)]
    return Finding(
        "figure 5.10, CPM in general",
        DID,
        "over the full range of N one speed a node is unable to converge to a balanced solution",
        f"{TRIED}; multiple CPM {CPM_STEPS} steps",
        f"unbalanced at some N: {', '.join(failing) or 'neither'}; least part of FPM's speed: "
        f"{seen}",
        [Criterion(f"{name} does not balance every N", name in failing) for name in LIMITS],
        LACKING,
    )


def _reliable(rows: Sequence[Row]) -> Finding:
    large = [int(row["n"]) for row in rows if 3 * 8 * int(row["n"]) ** 2 > LARGE_BYTES]
    balanced = _balanced(rows, "FPM")
    behind = max(max(float(row[f"{name}_gflops"]) for name in KINDS[:-1]) / float(row["FPM_gflops"])
                 for row in rows)  # fmt: skip
    return Finding(
        "figure 5.10, FPM",
        DID,
        "reliably finds good sizes, for matrices of over 0.5 TB",
        f"{TRIED}; GPA on full curves",
        f"balanced at {len(balanced)} of {len(rows)} N, {len(large)} of which are of over 0.5 TB; "
        f"the best other way has at most {behind:.4f} of its speed",
        [Criterion("balanced at every N", len(balanced) == len(rows) and bool(large))],
        LACKING,
    )


def _sent() -> Finding:
    return Finding(
        "section 5.2.3, communication",
        "timed all communication, waiting included, at N = 150,000",
        "6 % of the time",
        "nothing: messages are not emulated",
        "",
        lacking="messages",
    )


def _constant_steps(machine: EmulatedMachine, even: IntArray, steps: int) -> list[IntArray]:
    """Return the sizes of each step of the traditional balancer, balanced or not."""
    history = [even]
    for _ in range(steps):
        speeds = history[-1] / machine.run(history[-1])
        targets = speeds * (even.sum() / speeds.sum())
        sizes = np.maximum(np.floor(targets), 1).astype(np.int64)
        up = np.argsort(sizes - targets, kind="stable")[: int(even.sum() - sizes.sum())]
        sizes[up] += 1
        history.append(sizes)
    return history
