"""Sizes of [LDHT]_: Algorithm 1, Table III and the three kinds of machines, by computation alone.

`Divide` is what is judged: Algorithm 1 as Evener has it, or in tests something else. The paper does
not say what part of the memory the load takes ("filling"); evener.platforms.examples guesses it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.platforms.examples import (
    DEVICES_PER_NODE,
    FILLED,
    SLOW_MEMORY,
    SLOW_SPEED,
    TABLE_III,
)
from evener.sizing.memory_capped import target_weights
from papers.findings import Criterion, Finding, Row
from papers.ldht.setup import PRINTED_RATIOS, SATURATED_FROM, SHARES, SPEEDS

Divide = Callable[[float, FloatArray, FloatArray], FloatArray]
Rows = Sequence[Row]

FULL = 1 - 1e-9  # of its memory: a device is saturated
NEAR = 1e-7  # relative, between two solvers
CASES, MOST_DEVICES = 30, 40
SIZED = (2**14, 2**17, 2**20)  # devices whose sizes are timed
ABOUT = 0.05  # relative: "approximately"
STEP = 1.6  # from one memory of Table III to the next: section VI-A
HALVINGS = 50
EQUAL = "equal sizes"


def by_algorithm_1(load: float, speeds: FloatArray, memories: FloatArray) -> FloatArray:
    """Return targets (k,) of a load for speeds and memories (k,)."""
    return target_weights(load, speeds, memories)[0]


def equal_sizes(load: float, speeds: FloatArray, memories: FloatArray) -> FloatArray:  # noqa: ARG001
    """Return equal targets (k,) in place of those of Algorithm 1: a counter-example."""
    return np.full(speeds.size, load / speeds.size)


class Case(NamedTuple):
    """A load, and speeds and memories (k,) of devices that hold it."""

    load: float
    speeds: FloatArray
    memories: FloatArray


def random_cases(count: int = CASES, seed: int = 1) -> list[Case]:
    """Return loads for 2 to 40 devices whose speeds and memories differ by some ten times."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        k = int(rng.integers(2, MOST_DEVICES + 1))
        memories = rng.lognormal(0, 1, k)
        found.append(Case(float(rng.uniform(0.2, 0.99)) * memories.sum(), rng.lognormal(0, 1, k),
                          memories))  # fmt: skip
    return found


def saturated_first(
    divide: Divide = by_algorithm_1, cases: Sequence[Case] | None = None
) -> Finding:
    """Lemma 1: saturated devices come first by speed for memory."""
    cases = random_cases() if cases is None else cases
    good, some = 0, 0
    for case in cases:
        full = divide(*case) >= FULL * case.memories
        in_order = full[np.argsort(-case.speeds / case.memories, kind="stable")]
        good += bool((np.diff(in_order.astype(np.int8)) <= 0).all())
        some += bool(full.any() and not full.all())
    return Finding(
        "IV, Lemma 1", "a proof",
        "no saturated device comes after a non-saturated one by speed for memory",
        f"{len(cases)} random loads and machines of 2 to {MOST_DEVICES} devices",
        f"so in {good}; in {some} some devices are saturated and some are not",
        [Criterion("in every case", good == len(cases)),
         Criterion("some cases have both kinds", some > 0)],
    )  # fmt: skip


def least_makespan(case: Case) -> float:
    """Return the least max(target / speed) with every target within memory, by linear programming.

    Shares no code with the sizes: HiGHS minimises T where x <= speed T, 0 <= x <= memory and the
    sum of x is the load.
    """
    from scipy.optimize import linprog

    k = case.speeds.size
    finished = np.column_stack([np.eye(k), -case.speeds])
    found = linprog(
        np.append(np.zeros(k), 1.0), A_ub=finished, b_ub=np.zeros(k),
        A_eq=np.append(np.ones(k), 0.0)[None], b_eq=[case.load],
        bounds=[*((0.0, memory) for memory in case.memories), (0.0, None)],
    )  # fmt: skip
    return float(found.x[-1])


def least_in_theorem_1(
    divide: Divide = by_algorithm_1, cases: Sequence[Case] | None = None
) -> Finding:
    """Theorem 1: Algorithm 1 minimises equation (2) under equation (3)."""
    cases = random_cases(seed=2) if cases is None else cases
    within = best = 0
    worst = 0.0
    for case in cases:
        targets = divide(*case)
        keeps = bool((targets <= case.memories * (1 + NEAR)).all())
        within += keeps and abs(targets.sum() - case.load) <= NEAR * case.load
        off = float((targets / case.speeds).max()) / least_makespan(case) - 1
        best += abs(off) <= NEAR
        worst = max(worst, abs(off))
    return Finding(
        "IV, Theorem 1", "a proof",
        "Algorithm 1 is optimal for the largest target by speed, within memory",
        f"{len(cases)} random cases, also by linear programming (HiGHS)",
        f"within memory in {within}, the least in {best}; off by {worst:.1g} at most",
        [Criterion("within memory, and all of the load", within == len(cases)),
         Criterion("the least, as by linear programming", best == len(cases))],
    )  # fmt: skip


def seconds_of_sizes(sizes: Sequence[int] = SIZED, divide: Divide = by_algorithm_1) -> list[Row]:
    """Return CPU seconds of sizes for so many devices, the least of three."""
    rows: list[Row] = []
    for k in sizes:
        rng = np.random.default_rng(k)
        memories = rng.lognormal(0, 1, k)
        case = Case(0.8 * memories.sum(), rng.lognormal(0, 1, k), memories)
        spent = []
        for _ in range(3):
            began = time.thread_time()
            divide(*case)
            spent.append(time.thread_time() - began)
        rows.append({"k": k, "cpu_s": min(spent)})
    return rows


def grows_as_sorting(rows: Rows) -> Finding:
    """Theorem 1: O(k log k)."""
    by_work = [float(row["cpu_s"]) / (int(row["k"]) * np.log2(int(row["k"]))) for row in rows]
    return Finding(
        "IV, Theorem 1: time", "a proof", "Algorithm 1 runs in O(k log k)",
        "CPU seconds of sizes for " + ", ".join(f"{row['k']:,}" for row in rows) + " devices",
        ", ".join(f"{float(row['cpu_s']):.3g} s" for row in rows),
        [Criterion("at most twice as long for each unit of k log k as for the fewest devices",
                   by_work[-1] <= 2 * by_work[0], own=True)],
    )  # fmt: skip


# Table III.


class Entry(NamedTuple):
    """A number of Table III's last column: k / share devices are fast, as is printed."""

    speed: float
    share: int
    printed: str

    @property
    def half(self) -> float:
        """Half a unit of the last digit printed."""
        return 0.5 * 10.0 ** -len(self.printed.partition(".")[2])


ENTRIES = [
    Entry(speed, share, printed)
    for speed in SPEEDS
    for share, printed in zip(SHARES, PRINTED_RATIOS[speed], strict=True)
]


def ratio_of(entry: Entry, filling: float, divide: Divide = by_algorithm_1) -> float:
    """Return a fast device's target by a slow one's where the load is `filling` of the memory."""
    speeds, memories = np.full(entry.share, SLOW_SPEED), np.full(entry.share, SLOW_MEMORY)
    speeds[0], memories[0] = entry.speed, TABLE_III[entry.speed]
    targets = divide(filling * float(memories.sum()), speeds, memories)
    return float(targets[0] / targets[-1])


class Fillings(NamedTuple):
    """The fillings at which something holds, from `low` to `high`; none where low is above."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.4f} to {self.high:.4f}" if self.low <= self.high else "none"


def common(sets: Sequence[Fillings]) -> Fillings:
    """Return the fillings that all have."""
    return Fillings(max(one.low for one in sets), min(one.high for one in sets))


def _first_below(entry: Entry, ratio: float, divide: Divide) -> float:
    """Return the least filling at which the ratio is below `ratio`; it never rises with filling."""
    low, high = 1e-6, 1.0
    if ratio_of(entry, low, divide) < ratio:
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if ratio_of(entry, middle, divide) < ratio:
            high = middle
        else:
            low = middle
    return high


def fillings_of(entry: Entry, divide: Divide = by_algorithm_1) -> Fillings:
    """Return the fillings at which the ratio rounds to the number that is printed."""
    printed = float(entry.printed)
    low = _first_below(entry, printed + entry.half, divide)
    return Fillings(low, _first_below(entry, printed - entry.half, divide))


def table_iii(divide: Divide = by_algorithm_1) -> list[Row]:
    """Return a row for each number of the last column: ratios here, and the fillings that fit."""
    rows: list[Row] = []
    for entry in ENTRIES:
        fits = fillings_of(entry, divide)
        found = ratio_of(entry, FILLED, divide)
        rows.append({
            "speed": entry.speed, "fast": f"k/{entry.share}", "memory": TABLE_III[entry.speed],
            "printed": entry.printed, "ratio": round(found, 4),
            "filling_low": round(fits.low, 5), "filling_high": round(fits.high, 5),
            "saturated": int(found < entry.speed * FULL),
            # Saturated from this filling on, where the ratio falls below that of speeds.
            "saturated_from": round(_first_below(entry, entry.speed * FULL, divide), 5),
        })  # fmt: skip
    return rows


def _fits(row: Row) -> Fillings:
    return Fillings(float(row["filling_low"]), float(row["filling_high"]))


def last_column(rows: Rows) -> Finding:
    """Table III, last column: how much more a fast device gets."""
    off = max(abs(float(row["ratio"]) / float(row["printed"]) - 1) for row in rows)
    all_fit = common([_fits(row) for row in rows])
    speeds = sorted({float(row["speed"]) for row in rows})
    each = {s: common([_fits(row) for row in rows if row["speed"] == s]) for s in speeds}
    here = "; ".join(
        f"speed {s:g}: " + ", ".join(f"{float(r['ratio']):.2f}" for r in rows if r["speed"] == s)
        for s in speeds
    )
    return Finding(
        "VI-A, Table III: last column", "Algorithm 1 for k/12 and k/6 fast devices",
        "a fast device gets approximately " + "; ".join(
            f"{' - '.join(PRINTED_RATIOS[s])} (speed {s:g})" for s in speeds),
        f"Algorithm 1 where the load is {FILLED:.4f} (5/6, a guess) of the memory; then all other "
        "fillings",
        f"at 5/6 {here}; off by {off:.1%} at most. Fillings that round to what is printed, for "
        "both numbers of fast devices: " + ", ".join(f"speed {s:g} {each[s]}" for s in speeds)
        + f"; for all ten numbers {all_fit}",
        [Criterion("at 5/6 within 5 % of what is printed", off <= ABOUT, own=True),
         Criterion("each speed has a filling that rounds to its two numbers",
                   all(one.low <= one.high for one in each.values())),
         Criterion("one filling rounds to all ten numbers", all_fit.low <= all_fit.high)],
    )  # fmt: skip


def saturation(rows: Rows) -> Finding:
    """Section VI-A: where memory suffices, and where it is full."""
    heterogeneous = [row for row in rows if float(row["speed"]) > 1]
    enough = [row for row in heterogeneous if float(row["speed"]) < SATURATED_FROM]
    full = [row for row in heterogeneous if float(row["speed"]) >= SATURATED_FROM]
    wrong = [row for row in enough if row["saturated"]] + [r for r in full if not r["saturated"]]
    # Fillings at which the statement holds, and those of the ratios at speed 2 and above.
    holds = Fillings(
        max((float(row["saturated_from"]) for row in full), default=0.0),
        min((float(row["saturated_from"]) for row in enough), default=1.0),
    )
    by_ratio = {float(row["speed"]): common([holds, _fits(row)]) for row in full
                if row["fast"] == f"k/{SHARES[0]}"}  # fmt: skip
    return Finding(
        "VI-A: saturated devices", "Algorithm 1 on TOPO1",
        "at speed 2 memory suffices; at 4, 8 and 16 the fast devices' memory is full",
        "Algorithm 1 with 5/6 of the memory filled, and all other fillings",
        "at 5/6 otherwise than said: " + (", ".join(
            f"speed {float(r['speed']):g} with {r['fast']} fast" for r in wrong) or "none")
        + f"; as said at fillings {holds}, of which those with the ratios of Table III for "
        + ", ".join(f"speed {s:g} are {found}" for s, found in by_ratio.items()),
        [Criterion("at 5/6, for both numbers of fast devices", not wrong, own=True),
         Criterion("there is a filling at which it is so", holds.low <= holds.high),
         Criterion("at it the ratios of k/12 fast devices are those of Table III",
                   all(one.low <= one.high for one in by_ratio.values()))],
    )  # fmt: skip


def memory_steps(memories: Sequence[float] = tuple(TABLE_III.values())) -> Finding:
    """Section VI-A: the memory of fast devices rises by 1.6 in each step."""
    steps = [after / before for before, after in itertools.pairwise(memories)]
    exact = [memories[0] * STEP**i for i in range(len(memories))]
    return Finding(
        "VI-A, Table III: memory", "speeds times 2, memory times 1.6 in each of 4 steps",
        "the memory of the fast devices is 2, 3.2, 5.2, 8.5, 13.8",
        "the ratios of these numbers, and 2 x 1.6^i",
        "ratios " + ", ".join(f"{s:.3f}" for s in steps) + "; 2 x 1.6^i "
        + ", ".join(f"{e:.2f}" for e in exact),
        [Criterion("each ratio rounds to 1.6", all(round(s, 1) == STEP for s in steps)),
         Criterion("each is 2 x 1.6^i, rounded to one digit",
                   all(abs(m - e) <= 0.05 for m, e in zip(memories, exact, strict=True)))],
    )  # fmt: skip


def middle_speed(speed: float) -> float:
    """Return the speed of TOPO2's middle devices by equation (5)."""
    return 0.5 * speed / TABLE_III[speed] * SLOW_MEMORY


def middle_devices(middle: Callable[[float], float] = middle_speed) -> Finding:
    """Equation (5): middle devices get their sizes after the fast and before the slow ones."""
    speeds = {s: middle(s) for s in SPEEDS}
    after_fast = all(v / SLOW_MEMORY < s / TABLE_III[s] for s, v in speeds.items())
    slower = [s for s, v in speeds.items() if v <= SLOW_SPEED]
    rising = list(speeds.values())
    return Finding(
        "VI-B, equation (5)", "TOPO2: middle devices with half the fast ones' speed for memory",
        "the middle devices' speed rises; they get their sizes after the fast and before the slow "
        "devices",
        "equation (5) to the letter, with the middle devices' memory that of slow ones",
        "middle speeds " + ", ".join(f"{v:.3f} (fast {s:g})" for s, v in speeds.items())
        + "; no faster than slow devices, which then come first, where fast ones have speed "
        + (", ".join(f"{s:g}" for s in slower) or "none"),
        [Criterion("it rises", all(a < b for a, b in itertools.pairwise(rising))),
         Criterion("after the fast devices", after_fast),
         Criterion("before the slow ones at every speed", not slower)],
    )  # fmt: skip


def nodes_of_topo3() -> Finding:
    """Section VI-C: machines of 4 and 8 nodes."""
    return Finding(
        "VI-C: machines of TOPO3",
        "4 and 8 nodes of 24 cores (96 and 182 devices), 1 or 2 of them unchanged, the others "
        "lowered in speed and memory",
        "96 and 182 devices, 24 or 48 of them fast",
        "the speeds and memories of Table III, as section VI-C gives none; 4 and 8 nodes of 24",
        f"{4 * DEVICES_PER_NODE} and {8 * DEVICES_PER_NODE} devices",
        [Criterion("4 nodes of 24 are 96", 4 * DEVICES_PER_NODE == 96),
         Criterion("8 nodes of 24 are 182", 8 * DEVICES_PER_NODE == 182)],
        lacking="speeds and memories are those of Table III",
    )  # fmt: skip


def all_findings(rows: Rows, timed: Rows) -> list[Finding]:
    """Return the findings of this file, in the paper's order."""
    return [
        saturated_first().beside_counter(EQUAL, saturated_first(equal_sizes)),
        least_in_theorem_1().beside_counter(EQUAL, least_in_theorem_1(equal_sizes)),
        grows_as_sorting(timed), memory_steps(), last_column(rows),
        saturation(rows), middle_devices(), nodes_of_topo3(),
    ]  # fmt: skip
