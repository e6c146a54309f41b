"""MPICH's mpiexec (Hydra): a hostfile, and a list of cores for the ranks of every host."""

from __future__ import annotations

from itertools import groupby

from evener.integrations.launching.jobs import HOSTS, Launch, RankJob, with_script
from evener.integrations.launching.launchers import Launcher
from evener.integrations.launching.placing import by_host, is_in_runs
from evener.integrations.launching.rank_script import OF_MPICH, wrapped

# Earlier versions accept -rankmap, but ignore it (4.2.3 to 5.0.1 were tested).
FIRST_MAPPED = (5, 0, 2)


def launch(job: RankJob, launcher: Launcher) -> Launch:
    """Return the launch of the ranks by mpiexec.

    Hydra takes one list of cores, for the first, second, ... rank of every host. The launch uses
    this list if it suits every host; otherwise a script binds each rank that has cores.
    """
    hosts = by_host(job.places)
    lists = {tuple(place.cores for place in own) for own in hosts.values()}
    longest = max(lists, key=len)
    fits = all(own == longest[: len(own)] and all(own) for own in lists)
    if is_in_runs(job.places) or (fits and launcher.version >= FIRST_MAPPED):
        listed = "".join(f"{host}:{len(own)}\n" for host, own in hosts.items())
        order = [] if is_in_runs(job.places) else ["-rankmap", _rank_map(job)]
    else:  # each line is taken as a separate host
        runs = [(host, len(list(run))) for host, run in groupby(p.host for p in job.places)]
        listed, order, fits = "".join(f"{host}:{n}\n" for host, n in runs), [], False
    script, program = wrapped(job, OF_MPICH, binds=not fits)
    bound = ["-bind-to", f"user:{','.join('+'.join(map(str, own)) for own in longest)}"]
    words = [launcher.path, "-f", job.path(HOSTS), "-n", str(job.n), *order]
    return with_script(
        {HOSTS: listed, **script}, [*words, *(bound if fits else []), *job.options, *program]
    )


def _rank_map(job: RankJob) -> str:
    """Return the host number of each rank, as an option."""
    numbers = {host: i for i, host in enumerate(by_host(job.places))}
    return ",".join(str(numbers[place.host]) for place in job.places)
