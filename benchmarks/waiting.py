"""What it costs that waits for MPI can end: exchanges of MPI's own, and those of MpiComm.

    python benchmarks/waiting.py [--rounds 9]

Two ranks, by turns: Waitall and allgather of mpi4py, which spin; and MpiComm's, which test, sleep
and give up. Per exchange, the median over rounds. The constants of evener.running.failures are
chosen by this: SPINS and YIELDING so that what comes at once costs nothing more, REST and LONGEST
so that ranks which share a core leave it to each other. One JSON line a case goes to
results/waiting.jsonl.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from halos import MPIEXEC
from records import answer, markdown, parser

RESULTS = Path(__file__).parent / "results" / "waiting.jsonl"
LATE = (0.0, 1e-4, 3e-3)  # seconds by which the second rank comes later
SECONDS = 0.15  # of a round, for exchanges of this many seconds
AT_ONCE = 2e-5  # seconds that an exchange takes where none is late, for the count of a round
MOST = 2000  # exchanges of a round


def ways_of(comm, size):
    """Two ways of exchanging `size` bytes with the other rank, and the requests of the first."""
    from mpi4py import MPI

    world, other = MPI.COMM_WORLD, 1 - comm.rank
    out, into = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    swap = comm.swap({other: out}, {other: into})
    requests = [world.Recv_init(into, other, 7), world.Send_init(out, other, 7)]

    def plain():
        MPI.Prequest.Startall(requests)
        MPI.Prequest.Waitall(requests)

    def ours():
        swap.start()
        swap.finish()

    return (plain, ours), requests


def timed(comm, way, count, work):
    """Seconds of an exchange, each of them after so many seconds of work."""
    comm.barrier()
    began = time.perf_counter()
    for _ in range(count):
        end = time.perf_counter() + work
        while time.perf_counter() < end:
            pass
        way()
    return (time.perf_counter() - began) / count


def child(rounds):
    """What each rank runs; the first prints a line for each case."""
    from mpi4py import MPI

    from evener.running.mpi_comm import MpiComm

    comm = MpiComm()
    gathered = (lambda: MPI.COMM_WORLD.allgather([1, 2, 3]), lambda: comm.allgather([1, 2, 3]))
    cases, requests = {"allgather of three numbers": gathered}, []
    for size in (64, 2**14, 2**20):
        cases[f"exchange of {size:,} B"], made = ways_of(comm, size)
        requests += made
    for name, ways in cases.items():
        for late in LATE:
            count = min(max(int(SECONDS / max(late, AT_ONCE)), 1), MOST)
            times = [[timed(comm, way, count, late * comm.rank) for way in ways]
                     for _ in range(rounds)]  # fmt: skip
            plain, ours = np.median(times, axis=0)
            if comm.rank == 0:
                line = {
                    "case": name, "late_us": round(late * 1e6), "plain_us": round(plain * 1e6, 2),
                    "ours_us": round(ours * 1e6, 2), "ratio": round(ours / plain, 3),
                }  # fmt: skip
                print(json.dumps(line), flush=True)
    for request in requests:
        request.Free()


def measured(args):
    """Start the ranks; return their lines."""
    words = ["--child", "--rounds", str(args.rounds)]
    done = subprocess.run(
        [MPIEXEC, "-n", "2", sys.executable, __file__, *words],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def table(lines):
    rows = [("exchange", "late", "MPI's own", "MpiComm's", "ratio")]
    for line in lines:
        times = [f"{line[way]:,.1f} µs" for way in ("plain_us", "ours_us")]
        rows.append((line["case"], f"{line['late_us']:,} µs", *times, f"{line['ratio']:.2f}"))
    return markdown(rows)


def main():
    made = parser(__doc__, RESULTS)
    made.add_argument("--rounds", type=int, default=9)
    made.add_argument("--child", action="store_true", help="one of the ranks")
    made.when_small(rounds=1)
    args = made.parse_args()
    if args.child:
        child(args.rounds)
    else:
        answer(args, measured, table)


if __name__ == "__main__":
    main()
