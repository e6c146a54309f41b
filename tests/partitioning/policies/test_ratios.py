"""r and the CPUs' share: figures that [Guo16] states."""

import pytest

from evener.errors import InputError
from evener.partitioning.policies.ratios import least_share, paper_ratio

# Table IV: arcs of G1 to G4; section IV-B: their shares on four machines.
ARCS = {"G1": 5_018_445, "G2": 101_740_632, "G3": 687_174_631, "G4": 1_047_207_019}
SHARES = {"G1": 0.09, "G2": 0.06, "G3": 0.04, "G4": 0.04}


@pytest.mark.parametrize("graph", ARCS)
def test_shares_of_the_paper(graph):
    share = 1 / (paper_ratio(ARCS[graph] / 4) + 1)
    assert int(share * 100) / 100 == SHARES[graph]


def test_ratio_by_pieces():
    assert paper_ratio(50e6) == pytest.approx(19.3)
    assert paper_ratio(51e6) == paper_ratio(125e6) == 19.5
    assert paper_ratio(126e6) == 23.7
    with pytest.raises(InputError, match="not defined"):
        paper_ratio(float("nan"))


def test_least_share_that_fits():
    assert least_share(lambda share: share >= 0.35, 0.04) == pytest.approx(0.35, abs=1e-5)
    assert least_share(lambda share: True, 0.04) == 0.04
    assert least_share(lambda share: False, 0.04) == pytest.approx(1.0)
