"""Proofs that no partition of a graph can keep a contract, each naming block and shortfall."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InfeasibleError
from evener.partitioning.repair.state import State
from evener.plans.partition import RELATIVE_SLACK
from evener.wording import memory

SUMS_DIFFER = 1e-9  # relative: sums of real weights in another order differ by less


def prove_possible(state: State, names: list[str]) -> None:
    """Raise InfeasibleError where a simple argument shows that no partition keeps the contract."""
    prove_blocks(state.graph.n, state.k)
    _lightest_fits_everywhere(state, names)
    _some_weight_is_allowed(state, names)
    prove_totals(state.weights, state.low, state.high, "units")
    _some_number_fits(state, names)
    _bytes_covered(state)
    prove_heaviest(state.weights, state.contract.high, names, "units")
    prove_heaviest(state.n_bytes, state.contract.caps, names, "bytes")
    _each_fits_somewhere(state, names)


def prove_blocks(n: int, k: int) -> None:
    """Raise InfeasibleError where there are more blocks than vertices."""
    if k > n:
        raise InfeasibleError(
            f"{k:,} blocks for {n:,} vertices: some block would be empty",
            hint="Use fewer devices or a larger graph.",
        )


def prove_totals(weights: FloatArray, low: FloatArray, high: FloatArray, unit: str) -> None:
    """Raise InfeasibleError where the sum of weights (n,) is below all lows, or above all highs."""
    total, least, most = (float(values.sum()) for values in (weights, low, high))
    if least > total * (1 + SUMS_DIFFER):
        raise InfeasibleError(
            f"the blocks ask for at least {least:,.6g} {unit} together, the graph has "
            f"{total:,.6g}: {least - total:,.6g} short"
        )
    if total > most * (1 + SUMS_DIFFER):
        raise InfeasibleError(
            f"the blocks may hold at most {most:,.6g} {unit} together, the graph has "
            f"{total:,.6g}: {total - most:,.6g} too many",
            hint="A larger epsilon, more memory or more devices would make room.",
        )


def prove_heaviest(amounts: FloatArray, limits: FloatArray, names: list[str], unit: str) -> None:
    """Raise InfeasibleError where a vertex's amount (n,) exceeds the limit (k,) of every block."""
    v, b = int(amounts.argmax()), int(limits.argmax())
    if amounts[v] > limits[b] * (1 + RELATIVE_SLACK):
        raise InfeasibleError(
            f"vertex {v} weighs {amounts[v]:,.6g} {unit}, more than any block may hold: "
            f"{names[b]} has room for {limits[b]:,.6g}, {amounts[v] - limits[b]:,.6g} short",
            hint="Split the vertex, or give a larger --epsilon or a larger device.",
        )


def _bytes_covered(state: State) -> None:
    needed, room = float(state.n_bytes.sum()), float(state.caps.sum())
    if needed > room:
        raise InfeasibleError(
            f"the graph needs {memory(needed)}, all devices together have {memory(room)}: "
            f"{memory(needed - room)} short"
        )


def _lightest_fits_everywhere(state: State, names: list[str]) -> None:
    lightest = float(state.weights.min())
    b = int(state.high.argmin())
    if lightest > state.high[b]:
        high = state.contract.high[b]
        raise InfeasibleError(
            f"{names[b]} may hold {high:,.6g} units, but the lightest vertex weighs "
            f"{lightest:,.6g}: its block would be empty, {lightest - high:,.6g} short",
            hint="Leave that device out.",
        )
    spare = int(np.argmin(state.caps))
    if state.n_bytes.min() > state.caps[spare]:
        raise InfeasibleError(
            f"{names[spare]} has {memory(state.contract.caps[spare])}, the smallest vertex "
            f"needs {memory(state.n_bytes.min())}: its block would be empty",
            hint="Leave that device out.",
        )


def _some_weight_is_allowed(state: State, names: list[str]) -> None:
    none = state.low > state.high
    if none.any():
        b = int(none.argmax())
        low, high = state.contract.low[b], state.contract.high[b]
        raise InfeasibleError(
            f"{names[b]} asks for {low:,.6g} to {high:,.6g} units, but no sum of the vertices' "
            "weights lies between: they are all multiples of one number",
            hint="A larger epsilon would make room.",
        )


def _some_number_fits(state: State, names: list[str]) -> None:
    """Refuse a block for which any number of vertices is too light or too heavy.

    Where all vertices weigh nearly the same, their sums lie near its multiples, with gaps between.
    """
    lightest, heaviest = float(state.weights.min()), float(state.weights.max())
    if lightest <= 0:
        return
    rounding = RELATIVE_SLACK / 8  # within the slack of the limits
    least = np.ceil(state.low / heaviest * (1 - rounding))
    most = np.floor(state.high / lightest * (1 + rounding))
    none = least > most
    if none.any():
        b = int(none.argmax())
        low, high = state.contract.low[b], state.contract.high[b]
        raise InfeasibleError(
            f"{names[b]} asks for {low:,.6g} to {high:,.6g} units, but vertices weigh at most "
            f"{most[b] * heaviest:,.6g} ({most[b]:,.0f} of them) or at least "
            f"{(most[b] + 1) * lightest:,.6g} ({most[b] + 1:,.0f} of them)",
            hint="A larger epsilon would make room.",
        )
    for numbers, word, short in ((least, "least", 1), (most, "most", -1)):
        off = short * (float(numbers.sum()) - state.graph.n)
        if off > 0:
            raise InfeasibleError(
                f"the blocks take {numbers.sum():,.0f} vertices at {word} together, by their "
                f"weights, the graph has {state.graph.n:,}",
                hint="A larger epsilon would make room.",
            )


def _each_fits_somewhere(state: State, names: list[str]) -> None:
    """Refuse a vertex that fits into some blocks by weight, and only into others by its bytes."""
    order = np.argsort(-state.high, kind="stable")
    best_cap = np.maximum.accumulate(state.caps[order])
    allowed = np.searchsorted(-state.high[order], -state.weights, side="right")
    homeless = state.n_bytes > best_cap[np.maximum(allowed, 1) - 1]
    if homeless.any():
        v = int(homeless.argmax())
        fits = state.high >= state.weights[v]
        b = int(np.where(fits, state.caps, -1).argmax())
        raise InfeasibleError(
            f"vertex {v} needs {memory(state.n_bytes[v])}; of the blocks that may hold its "
            f"{state.weights[v]:,.6g} units, {names[b]} has most room: {memory(state.caps[b])}, "
            f"{memory(state.n_bytes[v] - state.caps[b])} short"
        )
