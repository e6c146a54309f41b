"""Open MPI's mpirun: a hostfile and a rankfile, or a list of hosts and the rank script."""

from __future__ import annotations

from evener.integrations.launching.jobs import HOSTS, RANKS, Launch, RankJob, commented, with_script
from evener.integrations.launching.launchers import Launcher
from evener.integrations.launching.placing import by_host, share_cores
from evener.integrations.launching.rank_script import OF_OPENMPI, wrapped
from evener.platforms.homes import cores_text

# From 5.0 on, rankfiles use hwloc's processor numbers, which may differ from Linux's.
FIRST_LOGICAL = (5, 0)
# A waiting rank polls, on a core that another rank needs: ten steps of a solver on three ranks
# on one core took 144 s, but 3 s with these options. mpirun only considers its slots.
YIELDING = ("--mca", "mpi_yield_when_idle", "1")


def launch(job: RankJob, launcher: Launcher) -> Launch:
    """Return the launch of the ranks by mpirun.

    If each device has cores and mpirun numbers processors as Linux does, a rankfile binds the
    ranks; otherwise hosts are listed rank by rank, and a script binds each rank that has cores.
    """
    physical = bool(launcher.version) and launcher.version < FIRST_LOGICAL
    if physical and all(place.cores for place in job.places):
        files = {HOSTS: _slots(job), RANKS: _rankfile(job)}
        bound = [
            "--rankfile", job.path(RANKS),
            # Numbers are Linux's, and each means a hardware thread, not its core.
            "--mca", "rmaps_rank_file_physical", "1", "--use-hwthread-cpus",
        ]  # fmt: skip
        script, program = wrapped(job, OF_OPENMPI, binds=False)
    else:
        files = {HOSTS: "".join(f"{place.host}\n" for place in job.places)}
        bound = ["--map-by", "seq", "--bind-to", "none"]
        script, program = wrapped(job, OF_OPENMPI, binds=True)
    if share_cores(job.places):
        bound += YIELDING
    words = [launcher.path, "--hostfile", job.path(HOSTS), *bound, "-n", str(job.n)]
    return with_script({**files, **script}, [*words, *job.options, *program])


def _slots(job: RankJob) -> str:
    return "".join(f"{host} slots={len(own)}\n" for host, own in by_host(job.places).items())


def _rankfile(job: RankJob) -> str:
    lines = (f"rank {p.rank}={p.host} slot={cores_text(p.cores)}\n" for p in job.places)
    return commented(job.places) + "".join(lines)
