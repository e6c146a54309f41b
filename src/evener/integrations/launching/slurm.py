"""Slurm: a batch script for one job step, or for a heterogeneous job if nodes differ."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from evener.integrations.launching.jobs import BATCH, HOSTS, Launch, RankJob, commented
from evener.integrations.launching.launchers import Launcher
from evener.integrations.launching.placing import RankPlace, by_host, is_here, is_in_runs, short
from evener.integrations.launching.rank_script import OF_SLURM, wrapped

# Whole nodes, because otherwise the step lacks cores to which it must bind ranks. All memory,
# because the default may be a share; and overcommitted, if ranks share cores.
WHOLE = ("--exclusive", "--overcommit", "--mem=0")
Masks = tuple[str, ...]


def launch(job: RankJob, launcher: Launcher) -> Launch:
    """Return the launch by sbatch; to wait for the end, by salloc or within this allocation.

    Ranks are placed by SLURM_HOSTFILE and --distribution=arbitrary. The step binds ranks by masks,
    which are the same on each node; if nodes differ, each node is a component of a heterogeneous
    job; if, in addition, a node's ranks are not consecutive, a script binds each rank.
    """
    hosts = {_node(host): own for host, own in by_host(job.places).items()}
    masks = [_masks(own) for own in hosts.values()]
    longest = max(masks, key=len)
    fits = all(own and own == longest[: len(own)] for own in masks)
    if not fits and all(masks) and is_in_runs(job.places):
        return _heterogeneous(job, launcher, hosts)
    script, program = wrapped(job, OF_SLURM, binds=not fits)
    asked = [f"--nodes={len(hosts)}", f"--nodelist={','.join(hosts)}", f"--ntasks={job.n}", *WHOLE]
    step = [
        launcher.path, f"--ntasks={job.n}", "--overcommit", "--distribution=arbitrary",
        _bound(longest if fits else ()), *job.options, *program,
    ]  # fmt: skip
    lines = [f"export SLURM_HOSTFILE={shlex.quote(job.path(HOSTS))}", f"exec {shlex.join(step)}"]
    files = {
        HOSTS: "".join(f"{_node(place.host)}\n" for place in job.places),
        **script,
        BATCH: _batch(job, [asked], lines),
    }
    return _submitted(job, files, [asked])


def _heterogeneous(job: RankJob, launcher: Launcher, hosts: dict[str, list[RankPlace]]) -> Launch:
    """Return the launch with one component per node."""
    script, program = wrapped(job, OF_SLURM, binds=False)
    asked, steps = [], []
    for group, (host, own) in enumerate(hosts.items()):
        asked.append(["--nodes=1", f"--nodelist={host}", f"--ntasks={len(own)}", *WHOLE])
        steps.append([
            f"--het-group={group}", f"--ntasks={len(own)}", "--overcommit", _bound(_masks(own)),
            *job.options, *program,
        ])  # fmt: skip
    words = " : \\\n    ".join(shlex.join(step) for step in steps)
    line = f"exec {shlex.quote(launcher.path)} \\\n    {words}"
    return _submitted(job, {**script, BATCH: _batch(job, asked, [line])}, asked)


def _submitted(job: RankJob, files: dict[str, str], asked: Sequence[Sequence[str]]) -> Launch:
    """Return the launch by sbatch; to wait for the end, the script runs in an allocation."""
    run = ("sh", job.path(BATCH))
    allocated = [word for one in asked for word in (*one, ":")][:-1]
    direct = run if "SLURM_JOB_ID" in os.environ else ("salloc", "--quiet", *allocated, *run)
    return Launch(files, ("sbatch", job.path(BATCH)), direct)


def _batch(job: RankJob, asked: Sequence[Sequence[str]], lines: Sequence[str]) -> str:
    components = "\n#SBATCH hetjob\n".join(
        "\n".join(f"#SBATCH {word}" for word in one) for one in asked
    )
    return (
        f"#!/bin/sh\n#SBATCH --job-name=evener\n{components}\n\n{commented(job.places)}\n"
        + "\n".join(lines)
        + "\n"
    )


def _masks(own: Sequence[RankPlace]) -> Masks:
    """Return the core mask of each rank of a node; empty if some rank has no cores."""
    if not all(place.cores for place in own):
        return ()
    return tuple(f"{sum(1 << core for core in place.cores):#x}" for place in own)


def _bound(masks: Masks) -> str:
    return f"--cpu-bind=mask_cpu:{','.join(masks)}" if masks else "--cpu-bind=none"


def _node(host: str) -> str:
    """Return the node name of a host; for this computer, the part before the first dot."""
    return short(host) if is_here(host) else host
