"""Places and jobs that the tests of launchers share."""

from evener.integrations.launching.jobs import RankJob
from evener.integrations.launching.placing import RankPlace


def places(*where):
    """Return the places of ranks from (host, cores) or (host, cores, gpu)."""
    return tuple(
        RankPlace(rank, f"d{rank}", host, tuple(cores), *gpu)
        for rank, (host, cores, *gpu) in enumerate(where)
    )


def job(*where, options=(), folder="F"):
    """Return a job of the program `./solver a`."""
    return RankJob(places(*where), ("./solver", "a"), folder, options)


# Two computers, three ranks: the ranks of a computer follow each other, or do not; lists of cores
# are alike on both, or are not.
ALIKE = (("a", [0, 1]), ("a", [2]), ("b", [0, 1]))
UNLIKE = (("a", [0, 1]), ("a", [2]), ("b", [3]))
MIXED = (("a", [0, 1]), ("b", [0, 1]), ("a", [2]))
MIXED_UNLIKE = (("a", [0]), ("b", [3]), ("a", [2]))
WITHOUT = (("a", [0]), ("b", []), ("b", [1]))
