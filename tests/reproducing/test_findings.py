"""A verdict says no more than what was asked and tried."""

import pytest

from evener.reproducing.findings import Criterion, Finding, Result, Verdict, counted

MET, FAILED = Criterion("so", True), Criterion("so too", False)
OWN, OWN_FAILED = Criterion("by ours", True, own=True), Criterion("by ours", False, own=True)


def finding(*criteria, **more):
    return Finding("figure 1", "did", "says", "tried", "seen", criteria, **more)


@pytest.mark.parametrize(
    ("criteria", "lacking", "verdict"),
    [
        ((MET,), "", Verdict.HELD),
        ((MET, MET), "", Verdict.HELD),
        ((MET,), "messages", Verdict.PARTLY),
        ((MET, OWN), "", Verdict.PARTLY),
        ((OWN,), "", Verdict.PARTLY),
        ((MET, FAILED), "", Verdict.PARTLY),
        ((FAILED,), "", Verdict.NOT_HELD),
        ((FAILED, OWN_FAILED), "messages", Verdict.NOT_HELD),
        ((), "", Verdict.NOT_TRIED),
        ((), "messages", Verdict.NOT_TRIED),
    ],
)
def test_verdicts(criteria, lacking, verdict):
    assert finding(*criteria, lacking=lacking).verdict is verdict


def test_what_is_not_the_papers_may_hold_by_our_own_figures():
    assert finding(OWN, beside=True).verdict is Verdict.HELD
    assert finding(OWN_FAILED, beside=True).verdict is Verdict.NOT_HELD


def test_a_row_says_all_of_it():
    row = finding(MET, OWN_FAILED, lacking="messages").row()
    assert row["criteria"] == "so: yes; by ours (our figure): no"
    assert (row["verdict"], row["lacking"]) == ("partly", "messages")


def test_verdicts_are_counted():
    result = Result([finding(MET), finding(MET), finding(FAILED), finding()])
    assert result.verdicts == {"held": 2, "partly": 0, "not held": 1, "not tried": 1}
    assert counted(result.verdicts) == "2 held, 0 partly, 1 not held, 1 not tried"
