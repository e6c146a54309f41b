"""Checks generators' parameters and free memory; raises UsageError if a check fails."""

from __future__ import annotations

import numpy as np

from evener.errors import UsageError

LARGEST = 2**31 - 1  # vertices; indices are 32 bits wide


def at_least(value: int, smallest: int, name: str) -> None:
    """Raise UsageError unless smallest <= value <= LARGEST, the largest number of vertices."""
    if value < smallest:
        raise UsageError(f"{name} must be at least {smallest}, not {value}")
    if value > LARGEST:
        raise UsageError(f"{name} must be at most {LARGEST:,}, not {value:,}")


def between(value: float, low: float, high: float, name: str) -> None:
    """Raise UsageError unless low <= value <= high; also for NaN."""
    if not low <= value <= high:
        raise UsageError(f"{name} must lie from {low} to {high}, not {value}")


def two_or_three(dim: int) -> None:
    """Raise UsageError unless `dim` is 2 or 3."""
    if dim not in (2, 3):
        raise UsageError(f"dim must be 2 or 3, not {dim}")


def random_source(seed: int) -> np.random.Generator:
    """Return the random generator for one graph or mesh; raise UsageError for a negative seed."""
    refuse_negative(seed)
    return np.random.default_rng(seed)


def refuse_negative(seed: int) -> None:
    """Raise UsageError for a seed below zero."""
    if seed < 0:
        raise UsageError(f"the seed must not be negative, but is {seed}")


def check_memory(count: float, bytes_each: float, what: str) -> None:
    """Raise UsageError if `count` of `what`, at `bytes_each` [B], exceed the free memory.

    Called before anything is allocated: a system short of memory kills processes without a message.
    """
    import psutil

    needed, free = count * bytes_each, psutil.virtual_memory().available
    if needed > free:
        raise UsageError(
            f"{count:,.0f} {what} need about {needed / 1e9:,.1f} GB of memory to make,"
            f" but only {free / 1e9:,.1f} GB are free",
            hint="Choose a smaller number.",
        )
