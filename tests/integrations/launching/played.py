"""Several hosts played by one: a remote shell that runs commands here, as that host."""

import shlex

from evener.platforms.homes import cores_of_text

# Takes what mpirun gives to ssh: options, the host, the command.
REMOTE = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
export PLAYED=$1
shift
exec sh -c "$*"
"""
# Prints rank, host, cores, gpu, and the number of vertices of the rank's block.
REPORT = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}}
cores=$(taskset -pc $$ | sed 's/.*: //')
host=${SLURMD_NODENAME:-${PLAYED:-$(hostname)}}
echo "$rank $host $cores ${CUDA_VISIBLE_DEVICES-none} $(grep -cx "$rank" "$1")"
"""
AS_ROOT = {
    f"{name}_ALLOW_RUN_AS_ROOT{more}": "1" for name in ("OMPI", "PRTE") for more in ("", "_CONFIRM")
}


def program(folder, name, text):
    """Write a program; return its path."""
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return str(file)


def played(launcher, remote):
    """Return the words of a launcher that reaches hosts by the remote shell above."""
    if launcher.kind == "mpich":
        more = ["-launcher", "ssh", "-launcher-exec", remote]
    elif launcher.version < (5, 0):
        more = ["--mca", "plm_rsh_agent", remote]
    else:
        more = ["--prtemca", "plm_ssh_agent", remote]
    return shlex.join([launcher.path, *more])


def reported(text):
    """Return (host, cores, gpu, vertices) by rank of what the ranks printed."""
    assert "-----" not in text, text  # a message of Open MPI
    words = iter(text.split())  # launchers forward pieces: a line may come in two
    ranks = zip(words, words, words, words, words, strict=True)
    return {
        int(rank): (host, cores_of_text(cores), gpu, int(n)) for rank, host, cores, gpu, n in ranks
    }
