"""What all tests share."""

import gc
import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

from evener.io.meshes import meshio_child
from tests.examples import USUAL
from tests.io.without_process import WithoutProcess

# The same examples in every run, so that a change alone can make a test fail. No deadline: the
# first example may compile kernels, or load them on a busy computer.
settings.register_profile("evener", deadline=None, derandomize=True, max_examples=USUAL)
# New examples in every run (`make fuzz`); a failure prints what makes it again.
settings.register_profile("fuzz", deadline=None, print_blob=True)
settings.load_profile("evener")

# Where the suite runs in the background, shells have its children ignore what they are to obey.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter, config):
    """Print how to run a property test again that failed on examples drawn in this run."""
    if config.getoption("--hypothesis-profile", None) == "fuzz":
        seed = config.getoption("--hypothesis-seed", None)
        for report in terminalreporter.stats.get("failed", []):
            options = f"--hypothesis-profile fuzz --hypothesis-seed {seed}"
            terminalreporter.write_line(f"again: pytest {options} '{report.nodeid}'")


def pytest_collection_finish() -> None:
    """Leave thousands of tests alone, which stay to the end, where garbage is looked for."""
    gc.freeze()


if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":

    @pytest.fixture(autouse=True)
    def numbers_as_in_kernels():
        """Whole numbers wrap and nothing warns of a division by zero."""
        with np.errstate(all="ignore"):
            yield

    def pytest_configure(config):
        """The same in threads, which do not inherit np.errstate."""
        warns = "(overflow|divide by zero|invalid value) encountered"
        config.addinivalue_line("filterwarnings", f"ignore:{warns}:RuntimeWarning")


def _data_folder() -> Path | None:
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("EVENER_DATA", beside))
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of real graphs, meshes and matrices; the test is skipped where there is none."""
    folder = _data_folder()
    if folder is None:
        pytest.skip("the real inputs are not here (EVENER_DATA names their folder)")
    return folder


@pytest.fixture
def meshio_here(monkeypatch):
    """Have meshlane's readers, and ours of such files, run in this process."""
    others = vars(subprocess) | {"Popen": WithoutProcess}
    monkeypatch.setattr("evener.io.meshes.meshio.subprocess", SimpleNamespace(**others))
    monkeypatch.setattr(meshio_child, "_limit", lambda *_: None)
    monkeypatch.setattr(meshio_child, "_leave_with_parent", lambda *_: None)
    monkeypatch.setattr("sys.addaudithook", lambda hook: None)  # would stay
