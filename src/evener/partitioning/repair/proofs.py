"""Proofs that no partition can satisfy a contract; each names the block and the missing amount.

Sizes that cannot exist, whatever the graph, are refused before, in evener.sizing.contracts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntVector
from evener.errors import InfeasibleError
from evener.partitioning.repair.state import State
from evener.plans.partition import RELATIVE_SLACK
from evener.wording import memory

FIX_FEWER = "Fix fewer vertices, increase --epsilon, or use a larger device."
SUMS_DIFFER = 1e-9  # relative: changing the order of real weights changes their sum by less


@dataclass(frozen=True, eq=False)
class _Divisible:
    """The vertices that may move, and the limits that remain after subtracting the fixed vertices.

    vertices (f,): their numbers; weights, n_bytes (f,): their weights and bytes. low, high, caps
    (k,): limits of State; said_low, said_high, said_caps (k,): limits of the contract, for
    messages; the amounts of fixed vertices are subtracted from all limits. names (k,): device
    names, with a note if the block has fixed vertices. empty (k,): whether a block has no fixed
    vertices.
    """

    vertices: IntVector
    weights: FloatArray
    n_bytes: FloatArray
    low: FloatArray
    high: FloatArray
    caps: FloatArray
    said_low: FloatArray
    said_high: FloatArray
    said_caps: FloatArray
    names: list[str]
    empty: BoolArray

    @classmethod
    def of(cls, state: State, names: list[str]) -> _Divisible:
        free, fixed = state.free, np.flatnonzero(state.fixed)
        part, contract, held = state.part[fixed], state.contract, state.held
        bytes_held = np.bincount(part, state.n_bytes[fixed], state.k)
        empty = np.bincount(part, minlength=state.k) == 0
        said = [
            name if empty[b] else f"{name}, besides its fixed vertices,"
            for b, name in enumerate(names)
        ]
        return cls(
            free, state.weights[free], state.n_bytes[free], state.low - held, state.high - held,
            state.caps - bytes_held, contract.low - held, contract.high - held,
            contract.caps - bytes_held, said, empty,
        )  # fmt: skip

    @property
    def beside(self) -> str:
        """Words that messages about all blocks add if there are fixed vertices."""
        return "" if self.empty.all() else " besides fixed vertices"


def prove_possible(state: State, names: list[str]) -> None:
    """Raise InfeasibleError if a simple proof shows that no partition satisfies the contract."""
    _fixed_vertices_fit(state, names)
    rest = _Divisible.of(state, names)
    if rest.empty.all():
        prove_blocks(state.graph.n, state.k)
    elif np.count_nonzero(rest.empty) > rest.vertices.size:
        raise InfeasibleError(
            f"there are {np.count_nonzero(rest.empty):,} blocks without fixed vertices but only "
            f"{rest.vertices.size:,} free vertices: a block would be empty",
            hint="Fix fewer vertices, or use fewer devices.",
        )
    if rest.vertices.size:
        _lightest_fits_everywhere(rest)
    _some_weight_is_allowed(rest)
    prove_totals(rest.weights, np.maximum(rest.low, 0), rest.high, f"units{rest.beside}")
    if rest.vertices.size:
        _some_number_fits(rest)
        _bytes_covered(state)
        prove_heaviest(rest.weights, rest.said_high, rest.names, "units", rest.vertices)
        prove_heaviest(rest.n_bytes, rest.said_caps, rest.names, "bytes", rest.vertices)
        _each_fits_somewhere(rest)


def _fixed_vertices_fit(state: State, names: list[str]) -> None:
    """Raise InfeasibleError if the fixed vertices of a block exceed its limits."""
    if not state.fixed.size:
        return
    fixed = np.flatnonzero(state.fixed)
    prove_fixed_fit(state.held, state.contract.high, names, "units")
    needed = np.bincount(state.part[fixed], state.n_bytes[fixed], state.k)
    over = np.where(needed > state.caps, needed - state.contract.caps, 0)
    if (over > 0).any():
        b = int(over.argmax())
        raise InfeasibleError(
            f"{names[b]} has {memory(state.contract.caps[b])}, but the vertices fixed there need "
            f"{memory(needed[b])}: {memory(over[b])} short",
            hint=FIX_FEWER,
        )


def prove_fixed_fit(held: FloatArray, high: FloatArray, names: list[str], unit: str) -> None:
    """Raise InfeasibleError if the weight of fixed vertices (k,) exceeds a block's high (k,)."""
    over = np.where(held > high * (1 + RELATIVE_SLACK), held - high, 0.0)
    if (over > 0).any():
        b = int(over.argmax())
        raise InfeasibleError(
            f"{names[b]} may hold {high[b]:,.6g} {unit}, but the vertices fixed there weigh "
            f"{held[b]:,.6g}: {over[b]:,.6g} too many",
            hint=FIX_FEWER,
        )


def prove_blocks(n: int, k: int) -> None:
    """Raise InfeasibleError if there are more blocks than vertices."""
    if k > n:
        raise InfeasibleError(
            f"there are {k:,} blocks but only {n:,} vertices: a block would be empty",
            hint="Use fewer devices or a larger graph.",
        )


def prove_totals(weights: FloatArray, low: FloatArray, high: FloatArray, unit: str) -> None:
    """Raise InfeasibleError if the total weight is below the sum of low or above that of high."""
    total, least, most = (float(values.sum()) for values in (weights, low, high))
    if least > total * (1 + SUMS_DIFFER):
        raise InfeasibleError(
            f"the blocks need at least {least:,.6g} {unit} together, but the graph has "
            f"{total:,.6g}: {least - total:,.6g} short"
        )
    if total > most * (1 + SUMS_DIFFER):
        raise InfeasibleError(
            f"the blocks may hold at most {most:,.6g} {unit} together, but the graph has "
            f"{total:,.6g}: {total - most:,.6g} too many",
            hint="Increase --epsilon, or use more memory or more devices.",
        )


def prove_heaviest(
    amounts: FloatArray,
    limits: FloatArray,
    names: list[str],
    unit: str,
    vertices: IntVector | None = None,
) -> None:
    """Raise InfeasibleError if a vertex's amount (n,) exceeds the limit (k,) of every block.

    vertices (n,): vertex numbers; None: 0 to n - 1.
    """
    v, b = int(amounts.argmax()), int(limits.argmax())
    if amounts[v] > limits[b] * (1 + RELATIVE_SLACK):
        number = v if vertices is None else vertices[v]
        raise InfeasibleError(
            f"vertex {number} weighs {amounts[v]:,.6g} {unit}, more than any block may hold: "
            f"{names[b]} has room for {limits[b]:,.6g}, {amounts[v] - limits[b]:,.6g} short",
            hint="Split the vertex, increase --epsilon, or use a larger device.",
        )


def _bytes_covered(state: State) -> None:
    needed, room = float(state.n_bytes.sum()), float(state.caps.sum())
    if needed > room:
        raise InfeasibleError(
            f"the graph needs {memory(needed)}, but all devices together have {memory(room)}: "
            f"{memory(needed - room)} short"
        )


def _lightest_fits_everywhere(rest: _Divisible) -> None:
    """Raise InfeasibleError if no vertex fits a block that has no fixed vertices."""
    if not rest.empty.any():
        return
    lightest, high = float(rest.weights.min()), np.where(rest.empty, rest.high, np.inf)
    b = int(high.argmin())
    if lightest > high[b]:
        raise InfeasibleError(
            f"{rest.names[b]} may hold {rest.said_high[b]:,.6g} units, but the lightest vertex "
            f"weighs {lightest:,.6g}: its block would be empty, "
            f"{lightest - rest.said_high[b]:,.6g} short",
            hint="Leave that device out.",
        )
    smallest, caps = float(rest.n_bytes.min()), np.where(rest.empty, rest.caps, np.inf)
    spare = int(np.argmin(caps))
    if smallest > caps[spare]:
        raise InfeasibleError(
            f"{rest.names[spare]} has {memory(rest.said_caps[spare])}, but the smallest vertex "
            f"needs {memory(smallest)}: its block would be empty",
            hint="Leave that device out.",
        )


def _some_weight_is_allowed(rest: _Divisible) -> None:
    none = rest.low > rest.high
    if none.any():
        b = int(none.argmax())
        raise InfeasibleError(
            f"{rest.names[b]} needs {rest.said_low[b]:,.6g} to {rest.said_high[b]:,.6g} units, but "
            "all vertex weights are multiples of one number, and no multiple of it lies in this "
            "range",
            hint="Increase --epsilon.",
        )


def _some_number_fits(rest: _Divisible) -> None:
    """Raise InfeasibleError if any number of vertices is too light or too heavy for a block.

    This happens if all vertices weigh nearly the same: their sums then lie near multiples of this
    weight, with gaps between.
    """
    lightest, heaviest = float(rest.weights.min()), float(rest.weights.max())
    if lightest <= 0:
        return
    rounding = RELATIVE_SLACK / 8  # within the slack of the limits
    least = np.maximum(np.ceil(rest.low / heaviest * (1 - rounding)), 0)
    most = np.floor(rest.high / lightest * (1 + rounding))
    none = least > most
    if none.any():
        b = int(none.argmax())
        low, high = rest.said_low[b], rest.said_high[b]
        raise InfeasibleError(
            f"{rest.names[b]} needs {low:,.6g} to {high:,.6g} units, but {most[b]:,.0f} vertices "
            f"weigh at most {most[b] * heaviest:,.6g} and {most[b] + 1:,.0f} weigh at least "
            f"{(most[b] + 1) * lightest:,.6g}",
            hint="Increase --epsilon.",
        )
    for numbers, word, short in ((least, "need at least", 1), (most, "may hold at most", -1)):
        off = short * (float(numbers.sum()) - rest.vertices.size)
        if off > 0:
            raise InfeasibleError(
                f"by their weights, the blocks {word} {numbers.sum():,.0f} vertices{rest.beside} "
                f"together, but the graph has {rest.vertices.size:,}",
                hint="Increase --epsilon.",
            )


def _each_fits_somewhere(rest: _Divisible) -> None:
    """Raise InfeasibleError for a vertex whose weight and bytes do not both fit any block."""
    order = np.argsort(-rest.high, kind="stable")
    best_cap = np.maximum.accumulate(rest.caps[order])
    allowed = np.searchsorted(-rest.high[order], -rest.weights, side="right")
    homeless = rest.n_bytes > best_cap[np.maximum(allowed, 1) - 1]
    if homeless.any():
        v = int(homeless.argmax())
        fits = rest.high >= rest.weights[v]
        b = int(np.where(fits, rest.caps, -1).argmax())
        raise InfeasibleError(
            f"vertex {rest.vertices[v]} needs {memory(rest.n_bytes[v])}; of the blocks that may "
            f"hold its {rest.weights[v]:,.6g} units, {rest.names[b]} has most room: "
            f"{memory(rest.caps[b])}, {memory(rest.n_bytes[v] - rest.caps[b])} short"
        )
