"""Columns in whole blocks: what cannot be divided is refused."""

import numpy as np
import pytest

from evener.errors import InfeasibleError
from evener.sizing.tiling.whole import proportional, whole_columns


def test_columns_of_no_device_are_refused():
    with pytest.raises(InfeasibleError, match="no device has a share worth a block"):
        whole_columns([], np.ones(2), proportional(np.ones(2)), (4, 4))
