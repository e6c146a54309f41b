"""Sizes as people write them: units in any case, G as GiB, exponents."""

import argparse

import pytest

from evener.cli.values import size_in_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GiB", 2**31), ("2gib", 2**31), ("2G", 2**31), ("2g", 2**31), (" 2 G ", 2**31),
        ("2GB", 2 * 10**9), ("2gb", 2 * 10**9), ("1.5k", 1536), ("64MiB", 2**26), ("1T", 2**40),
        ("500000000", 500_000_000), ("7B", 7), ("1e9", 10**9), ("1.5E9", 15 * 10**8),
    ],
)  # fmt: skip
def test_sizes(text, size):
    assert size_in_bytes(text) == size


@pytest.mark.parametrize("text", ["0", "0GiB", "-1GiB", "-5", "0.4"])
def test_none_at_all(text):
    with pytest.raises(argparse.ArgumentTypeError, match="must be above zero"):
        size_in_bytes(text)


@pytest.mark.parametrize("text", ["", "GiB", "2X", "2GiBs", "two", "2 000", "1e9e9", "0x10", "inf"])
def test_no_sizes(text):
    with pytest.raises(argparse.ArgumentTypeError, match="is not a size, such as 2GiB or 2G"):
        size_in_bytes(text)


@pytest.mark.parametrize("given", [["--memory", "-1GiB"], ["--memory=-1GiB"], ["--memory", "-1"]])
def test_a_negative_size_is_said_to_be_one(evener, grid_file, given):
    said = evener("plan", grid_file, "--k", 2, *given)
    assert said.code == 2
    assert "a size must be above zero, not '-1" in said.err
