"""Small files for the readers' tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path) -> Put:
    """Write text or bytes to a file of the given name; returns its path."""

    def write(content, name="g.graph"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
