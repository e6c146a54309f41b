"""A verdict says no more than what was asked and tried."""

import pytest

from papers.findings import (
    SUMMARY,
    CounterExample,
    Criterion,
    Finding,
    FindingVerdict,
    PaperResult,
    counted,
)

MET, FAILED = Criterion("so", True), Criterion("so too", False)
OPEN = Criterion("open", None)
OWN, OWN_FAILED = Criterion("by ours", True, own=True), Criterion("by ours", False, own=True)


FAILS = CounterExample("constant speeds", FindingVerdict.NOT_HELD)


def finding(*criteria, counter=FAILS, **more):
    return Finding("figure 1", "did", "says", "tried", "seen", criteria, counter=counter, **more)


@pytest.mark.parametrize(
    ("criteria", "lacking", "verdict"),
    [
        ((MET,), "", FindingVerdict.HELD),
        ((MET, MET), "", FindingVerdict.HELD),
        ((MET,), "messages", FindingVerdict.PARTLY),
        ((MET, OWN), "", FindingVerdict.PARTLY),
        ((OWN,), "", FindingVerdict.PARTLY),
        ((MET, FAILED), "", FindingVerdict.PARTLY),
        ((FAILED,), "", FindingVerdict.NOT_HELD),
        ((FAILED, OWN_FAILED), "messages", FindingVerdict.NOT_HELD),
        ((OPEN,), "", FindingVerdict.NOT_TRIED),
        ((MET, OPEN), "", FindingVerdict.PARTLY),
        ((FAILED, OPEN), "", FindingVerdict.NOT_TRIED),
        ((), "", FindingVerdict.NOT_TRIED),
        ((), "messages", FindingVerdict.NOT_TRIED),
    ],
)
def test_verdicts(criteria, lacking, verdict):
    assert finding(*criteria, lacking=lacking).verdict is verdict


def test_what_is_not_the_papers_may_hold_by_our_own_figures():
    assert finding(OWN, beside=True).verdict is FindingVerdict.HELD
    assert finding(OWN_FAILED, beside=True).verdict is FindingVerdict.NOT_HELD


def test_a_row_says_all_of_it():
    row = finding(MET, OWN_FAILED, OPEN, lacking="messages").row()
    assert row["criteria"] == "so: yes; by ours (our figure): no; open: open"
    assert (row["verdict"], row["lacking"]) == ("partly", "messages")


def test_without_a_counter_example_nothing_is_held():
    bare = finding(MET, counter=None)
    assert (bare.judged, bare.verdict) == (FindingVerdict.HELD, FindingVerdict.PARTLY)
    assert finding(FAILED, counter=None).verdict is FindingVerdict.NOT_HELD


def test_a_test_that_holds_for_the_counter_example_cannot_tell():
    held, failed = finding(MET), finding(FAILED)
    assert held.beside_counter("constant speeds", failed).verdict is FindingVerdict.HELD
    blind = held.beside_counter("constant speeds", held)
    assert blind.verdict is FindingVerdict.PARTLY
    assert blind.row()["counter"] == "constant speeds: held"
    assert failed.beside_counter("constant speeds", held).verdict is FindingVerdict.NOT_HELD


def test_the_table_at_the_end_has_source_statement_section_run_and_verdict():
    (row,) = PaperResult([finding(MET, lacking="messages")]).rows("Cla14")
    assert row["source"] == "Cla14, figure 1"
    assert [row[key] for key in SUMMARY] == ["says", "figure 1", "tried", "partly"]
    assert row["lacking"] == "messages"


def test_verdicts_are_counted():
    result = PaperResult([finding(MET), finding(MET), finding(FAILED), finding()])
    assert result.verdicts == {"held": 2, "partly": 0, "not held": 1, "not tried": 1}
    assert counted(result.verdicts) == "2 held, 0 partly, 1 not held, 1 not tried"
