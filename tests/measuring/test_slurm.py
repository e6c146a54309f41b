"""Asking Slurm for its nodes: which nodes, and what fails."""

import stat

import pytest

from evener.errors import ToolError, UsageError
from evener.measuring.slurm import scontrol_text


@pytest.fixture
def scontrol(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for key in ("SLURM_JOB_NODELIST", "SLURM_NODELIST"):
        monkeypatch.delenv(key, raising=False)

    def make(text):
        path = tmp_path / "scontrol"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    return make


def test_all_nodes_those_of_the_job_or_those_asked_for(scontrol, monkeypatch):
    scontrol('echo "$@"')
    assert scontrol_text(None) == b"show node\n"
    assert scontrol_text("n[001-004],x9") == b"show node n[001-004],x9\n"
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    assert scontrol_text(None) == b"show node n[1-2]\n"
    assert scontrol_text("n7") == b"show node n7\n"


def test_what_fails(scontrol):
    with pytest.raises(ToolError, match="there is no scontrol here"):
        scontrol_text(None)
    scontrol("echo slurm_load_node error >&2; exit 1")
    with pytest.raises(ToolError, match="scontrol ended with 1: slurm_load_node error"):
        scontrol_text(None)
    for nodes in ("-h", "a b", ""):
        with pytest.raises(UsageError, match="no list of nodes"):
            scontrol_text(nodes)
