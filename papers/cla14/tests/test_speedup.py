"""Speed-ups of balanced runs: what is sent, and verdicts that follow the numbers."""

from dataclasses import replace

import numpy as np
import pytest

from papers.cla14.speedup import (
    ITERATIONS,
    LINK,
    WAYS,
    apart_row,
    gain_apart,
    gain_large,
    gain_small,
    redistributed,
    servers,
    speedup_row,
)


def test_rows_that_change_their_server_are_sent():
    # 4, 4, 4 to 6, 2, 4: server 0 receives two rows of server 1; the others keep theirs.
    assert redistributed(np.array([[4, 4, 4], [6, 2, 4]]), LINK) == pytest.approx(2.0)
    # To 2, 4, 6: server 1 has rows 2 to 5 in place of 4 to 7, and so sends two and receives two.
    assert redistributed(np.array([[4, 4, 4], [2, 4, 6]]), LINK) == pytest.approx(2.0)
    # Nothing in common: all of server 0 goes.
    assert redistributed(np.array([[9, 0, 0], [0, 0, 9]]), LINK) == pytest.approx(9.0)
    assert redistributed(np.array([[9, 1], [9, 1], [9, 1]]), LINK) == 0.0


def test_sixteen_servers_of_all_kinds():
    names = [server.name for server in servers(8000)]
    assert len(names) == 16
    assert set(names) == {"P1", "P2", "P3", "P4", "P5"}


def test_servers_all_alike_gain_nothing():
    row = apart_row(0.0)
    assert row["fastest"] == pytest.approx(1.0)
    assert row["DPA"] == pytest.approx(1.0)
    assert apart_row(4.0)["DPA"] > 1.1


def test_what_is_sent_makes_a_run_longer():
    row = speedup_row(servers(4000), 4000)
    assert all(row[way] < row[f"{way}, free"] for way in WAYS)
    assert row["DPA (NPA)"] > 1 - 30 / ITERATIONS


def test_constant_speeds_fail_where_they_do_not_settle_and_settle_without_limits():
    """At 23,000 CPM without redistribution is faster than even sizes, and yet fails."""
    rows = [speedup_row(servers(n), n, ["CPM"]) for n in (14000, 23000)]
    assert rows[0]["CPM, settled"] > 0
    assert rows[1]["CPM, settled"] == 0
    assert rows[1]["CPM, free"] > 1 > rows[1]["CPM"]
    endless = [replace(server, memory=np.inf) for server in servers(23000)]
    assert speedup_row(endless, 23000, ["CPM"])["CPM, settled"] > 0


def row(n, cpm, dpa, free=1.2, settled=2):
    return {"unknowns": n, "CPM": cpm, "DPA (NPA)": dpa, "DPA (NPA), free": free,
            "CPM, settled": settled}  # fmt: skip


def met(finding):
    return [criterion.met for criterion in finding.criteria]


def test_small_sizes_are_judged_by_redistribution_and_growth():
    assert met(gain_small([row(1, 0.9, 0.95), row(2, 1.1, 1.1)])) == [True, True, True]
    assert met(gain_small([row(1, 1.01, 0.9), row(2, 1.1, 1.1)])) == [False, True, True]
    assert met(gain_small([row(1, 0.9, 0.9, 0.99), row(2, 1.1, 1.1)])) == [True, False, True]
    assert met(gain_small([row(1, 0.9, 0.9), row(2, 0.9, 1.1)])) == [True, True, False]


def test_large_sizes_are_judged_from_where_constant_speeds_fail():
    fine, failed = row(1, 1.1, 1.1), row(2, 0.5, 9.0, settled=0)
    assert met(gain_large([fine, failed])) == [True, True]
    assert met(gain_large([fine, failed, row(3, 1.1, 9.0)])) == [False, True]
    assert met(gain_large([fine, failed | {"DPA (NPA)": 0.9}])) == [True, False]
    assert met(gain_large([fine, fine])) == [False, False]
    assert "settle at n = 1, 1" in gain_large([fine, fine]).seen


def test_the_gain_is_to_grow_with_every_difference():
    rows = [{"power": i, "fastest": 1.0 + i, "DPA": 1.0 + i} for i in range(3)]
    assert met(gain_apart(rows)) == [True]
    assert met(gain_apart([*rows, rows[-1]])) == [False]
