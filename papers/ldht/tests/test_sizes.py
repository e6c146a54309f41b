"""Sizes of [LDHT]_: what Algorithm 1 and Table III's numbers say, and that verdicts can fail."""

import numpy as np
import pytest

from evener.platforms.examples import TABLE_III
from papers.ldht import sizes

ROWS = sizes.table_iii()


def by_speed(load, speeds, memories):
    return load * speeds / speeds.sum()


def slowest_first(load, speeds, memories):
    """Algorithm 1 in the wrong order: what does not fit is given to those that come later."""
    targets, rest, speed = np.zeros(speeds.size), load, speeds.sum()
    for i in np.argsort(speeds / memories):
        targets[i] = min(speeds[i] * rest / speed, memories[i])
        rest, speed = rest - targets[i], speed - speeds[i]
    return targets


def largest_first(load, speeds, memories):
    """Fill one device after the other, the largest first."""
    order = np.argsort(-memories)
    before = np.concatenate([[0.0], np.cumsum(memories[order])[:-1]])
    targets = np.empty(speeds.size)
    targets[order] = np.clip(load - before, 0, memories[order])
    return targets


def by_the_paper(load, speeds, memories):
    """Algorithm 1 line by line."""
    targets, rest, speed = np.zeros(speeds.size), load, speeds.sum()
    for i in np.argsort(-speeds / memories, kind="stable"):
        targets[i] = min(speeds[i] * rest / speed, memories[i])
        rest, speed = rest - targets[i], speed - speeds[i]
    return targets


def test_algorithm_1_is_held_and_others_are_not():
    cases = sizes.random_cases(12)
    assert sizes.saturated_first(cases=cases).judged == "held"
    assert sizes.saturated_first(by_the_paper, cases).judged == "held"
    assert sizes.least_in_theorem_1(cases=cases).judged == "held"
    for wrong in (sizes.equal_sizes, largest_first):
        assert sizes.saturated_first(wrong, cases).verdict != "held"
    for wrong in (sizes.equal_sizes, by_speed, slowest_first, largest_first):
        assert sizes.least_in_theorem_1(wrong, cases).verdict != "held"


def test_ratios_are_those_of_the_closed_form():
    for entry, row in zip(sizes.ENTRIES, ROWS, strict=True):
        memory, others = TABLE_III[entry.speed], entry.share - 1
        full = memory * others / (5 / 6 * (memory + 2 * others) - memory)
        assert row["ratio"] == pytest.approx(min(entry.speed, full), abs=5e-5)


def test_fillings_round_to_what_is_printed_and_others_do_not():
    for entry, row in zip(sizes.ENTRIES, ROWS, strict=True):
        low, high = row["filling_low"], row["filling_high"]
        printed = float(entry.printed)
        for filling in (low + 1e-4, high - 1e-4):
            assert abs(sizes.ratio_of(entry, filling) - printed) <= entry.half
        for filling in (low - 1e-4, high + 1e-4):
            if 0 < filling < 1:
                assert abs(sizes.ratio_of(entry, filling) - printed) > entry.half


def met(finding):
    return [criterion.met for criterion in finding.criteria]


def test_no_filling_gives_all_of_the_last_column():
    found = sizes.last_column(ROWS)
    assert (found.verdict, met(found)) == ("partly", [True, False, False])
    assert "speed 4 none" in found.seen
    assert "speed 16 none" in found.seen
    # With the numbers of one filling there is one, and equal sizes are not even near.
    exact = [{**row, "filling_low": 0.8, "filling_high": 0.9} for row in ROWS]
    assert met(sizes.last_column(exact)) == [True, True, True]
    assert met(sizes.last_column([{**row, "ratio": 1.0} for row in exact]))[0] is False


def test_saturation_is_said_of_a_filling_that_table_iii_does_not_have():
    found = sizes.saturation(ROWS)
    assert met(found) == [False, True, False]
    assert "speed 2 with k/12 fast" in found.seen
    assert "0.7697 to 0.8254" in found.seen
    other = [{**row, "saturated_from": 0.9 if row["speed"] == 4 else row["saturated_from"]}
             for row in ROWS]  # fmt: skip
    assert met(sizes.saturation(other)) == [False, False, False]


def test_middle_devices_are_slower_but_at_speed_16():
    found = sizes.middle_devices()
    assert met(found) == [True, True, False]
    assert "speed 1, 2, 4, 8" in found.seen
    assert sizes.middle_devices(lambda speed: 1 + 0.07 * speed).verdict == "partly"
    # Faster for their memory than the fast ones at first, and ever slower.
    assert met(sizes.middle_devices(lambda speed: 40 / speed)) == [False, False, True]


def test_memory_rises_by_about_1_6():
    assert met(sizes.memory_steps()) == [True, False]
    assert met(sizes.memory_steps([2, 3.2, 5.12, 8.192, 13.1072])) == [True, True]
    assert met(sizes.memory_steps([2, 4, 8, 16, 32])) == [False, False]


def test_eight_nodes_of_24_are_not_182():
    assert met(sizes.nodes_of_topo3()) == [True, False]


def test_time_is_judged_by_its_growth():
    linear = [{"k": k, "cpu_s": k * 1e-8} for k in sizes.SIZED]
    square = [{"k": k, "cpu_s": k * k * 1e-12} for k in sizes.SIZED]
    assert met(sizes.grows_as_sorting(linear)) == [True]
    assert met(sizes.grows_as_sorting(square)) == [False]
    assert [row["k"] for row in sizes.seconds_of_sizes((8, 16))] == [8, 16]
