"""Asks Slurm for its nodes."""

from __future__ import annotations

import os
import re
import shutil

from evener.errors import ToolError, UsageError
from evener.measuring.this_computer import output_of

JOB_NODES = ("SLURM_JOB_NODELIST", "SLURM_NODELIST")
SECONDS = 60.0  # that the controller may take to answer


def scontrol_text(nodes: str | None) -> bytes:
    """Return what `scontrol show node` says of these nodes; None: of the job's, else of all.

    Raises UsageError for what is no list of nodes, ToolError where there is no scontrol, or it
    fails.
    """
    program = shutil.which("scontrol")
    if program is None:
        raise ToolError(
            "there is no scontrol here",
            hint="Where there is: `scontrol show node > FILE`; then --from FILE here.",
        )
    if nodes is None:
        nodes = next(filter(None, (os.environ.get(key) for key in JOB_NODES)), None)
    if nodes is not None and not re.fullmatch(r"[A-Za-z0-9][\w.,\[\]-]*", nodes):
        raise UsageError(f"{nodes[:40]!r} is no list of nodes, as n[001-004]")
    return output_of([program, "show", "node", *([nodes] if nodes else [])], SECONDS)
