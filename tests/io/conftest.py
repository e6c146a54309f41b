"""Small files for the readers' tests."""

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from evener.io.plans.plan import write_plan
from tests.io.plan_samples import small_plan

Put = Callable[..., Path]
Pack = Callable[[bytes, str], bytes]


@pytest.fixture
def put(tmp_path) -> Put:
    """Write text or bytes to a file of the given name; returns its path."""

    def write(content, name="g.graph"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def pack() -> Pack:
    """Pack bytes as the suffix of the name says."""
    packers = {
        ".gz": gzip.compress,
        ".xz": lzma.compress,
        ".zst": zstandard.ZstdCompressor().compress,
    }
    return lambda content, name: packers.get(Path(name).suffix, bytes)(content)


@pytest.fixture(scope="session")
def plan():
    """A small plan."""
    return small_plan()


@pytest.fixture(scope="session")
def plan_file(plan, tmp_path_factory) -> Path:
    """The file of the small plan."""
    target = tmp_path_factory.mktemp("plans") / "x.plan"
    write_plan(target, plan)
    return target
