"""Commands that are run to their end, and ended before it."""

import signal
import threading
import time

import pytest

from evener.errors import ToolError
from evener.integrations.launching import running
from evener.integrations.launching.running import end_all, run_to_end


@pytest.mark.parametrize(("what", "code"), [("exit 3", 3), ("kill -9 $$", 137), ("true", 0)])
def test_exit_codes(what, code):
    assert run_to_end(["sh", "-c", what]) == code


def test_stdout_may_go_to_stderr(capfd):
    run_to_end(["echo", "one"])
    run_to_end(["echo", "two"], stdout_to_stderr=True)
    assert capfd.readouterr() == ("one\n", "two\n")


def test_what_cannot_be_started():
    with pytest.raises(ToolError, match="/none cannot be started: No such file"):
        run_to_end(["/none"])


@pytest.mark.parametrize("stubborn", [False, True])
def test_what_runs_is_ended(monkeypatch, stubborn):
    monkeypatch.setattr(running, "PATIENCE", 0.05)
    monkeypatch.setattr(running, "LAST_PATIENCE", 0.2 if stubborn else 20.0)
    codes = []
    what = "trap '' TERM; " if stubborn else ""
    words = ["sh", "-c", f"{what}while :; do sleep 0.02; done"]
    thread = threading.Thread(target=lambda: codes.append(run_to_end(words)))
    thread.start()
    while not running._running:
        time.sleep(0.01)
    time.sleep(0.05)  # for its trap
    end_all()
    thread.join(20)
    assert codes == [128 + (signal.SIGKILL if stubborn else signal.SIGTERM)]


def test_what_has_ended_is_forgotten():
    run_to_end(["true"])
    end_all()
    assert running._running == []
