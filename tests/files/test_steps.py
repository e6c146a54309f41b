"""Steps are logged for users of the library, but not beside a progress of their own."""

import logging
import re

import pytest

import evener as ev
from evener.files.steps import LOG, LoggedSteps
from tests.assertions import grid


def test_each_step_once_it_has_ended_and_the_whole(caplog):
    caplog.set_level(logging.DEBUG, "evener")
    tell = LoggedSteps("baking")
    for step, fraction in (("mixing", 0.0), ("waiting", 0.5), ("done", 1.0)):
        tell(step, fraction)
    said = [
        (record.levelname, record.getMessage().rpartition(" took ")) for record in caplog.records
    ]
    assert [(level, parts[0]) for level, parts in said] == [
        ("DEBUG", "baking: mixing"), ("DEBUG", "baking: waiting"), ("INFO", "baking"),
    ]  # fmt: skip
    assert all(re.fullmatch(r"\d+\.\d{3} s", parts[2]) for _, parts in said)
    seconds = [float(parts[2][:-2]) for _, parts in said]
    assert seconds[0] + seconds[1] <= seconds[2] + 0.002  # rounding


def test_a_plan_and_what_it_reads(caplog, tmp_path):
    ev.write_graph(tmp_path / "g.graph", grid(9, 9))
    caplog.set_level(logging.DEBUG, "evener")
    ev.plan(tmp_path / "g.graph", 2, tool="metis", objective="cut")
    said = [record.getMessage().partition(" took ")[0] for record in caplog.records]
    assert "reading g.graph: parsing" in said
    assert "planning: partitioning" in said
    wholes = [r.getMessage().split(" took ")[0] for r in caplog.records if r.levelname == "INFO"]
    assert wholes == ["reading g.graph", "planning"]


@pytest.mark.parametrize("work", [
    lambda progress: ev.plan(grid(9, 9), 2, objective="cut", tool="rcb", progress=progress),
    lambda progress: ev.compare(grid(9, 9), 2, ["rcb"], progress=progress),
])  # fmt: skip
def test_who_asks_for_progress_gets_no_second_account(caplog, work):
    caplog.set_level(logging.DEBUG, "evener")
    steps = []
    work(lambda step, fraction: steps.append(fraction))
    assert steps
    assert not [record for record in caplog.records if " took " in record.getMessage()]


def test_a_library_prints_nothing_by_itself(capsys):
    assert any(isinstance(handler, logging.NullHandler) for handler in LOG.handlers)
    assert LOG.level == logging.NOTSET
    ev.plan(grid(9, 9), 2, objective="cut", tool="rcb")
    assert capsys.readouterr() == ("", "")


def test_how_far_a_step_has_come_is_no_step_of_its_own(caplog):
    caplog.set_level(logging.DEBUG, "evener")
    tell = LoggedSteps("baking")
    for step in ("pass 1, 3 MiB read", "pass 1, 1.25 GiB read", "pass 2: rows, 5 of 20,000"):
        tell(step, 0.5)
    tell("done", 1.0)
    said = [record.getMessage().partition(" took ")[0] for record in caplog.records]
    assert said == ["baking: pass 1", "baking: pass 2: rows", "baking"]
