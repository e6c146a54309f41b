"""A plain hostfile for any other launcher: the host of each rank, in order, and a script."""

from __future__ import annotations

from evener.integrations.launching.jobs import HOSTS, Launch, RankJob
from evener.integrations.launching.launchers import Launcher
from evener.integrations.launching.rank_script import OF_ANY, wrapped


def launch(job: RankJob, launcher: Launcher) -> Launch:  # noqa: ARG001 - of any launcher
    """Return the hosts rank by rank, and as command what the launcher must run as each rank."""
    script, program = wrapped(job, OF_ANY, binds=True)
    return Launch({HOSTS: "".join(f"{place.host}\n" for place in job.places), **script}, program)
