"""A program whose ranks take a stated time for each unit of their blocks: they sleep.

    mpiexec -n K python program.py PLAN STEPS SECONDS_PER_UNIT,... [WORD]

Each step: two exchanges of a ring, three Allreduce of 8 bytes, one of 16. WORD: `hang` goes on for
ever, `silent` calls no collective functions, `fail` ends rank 1 with exit code 3.
"""

import os
import sys
import time

import numpy as np
from mpi4py import MPI

from evener.io.plans.plan import read_plan

file, steps, costs = sys.argv[1], int(sys.argv[2]), [float(one) for one in sys.argv[3].split(",")]
word = sys.argv[4] if len(sys.argv) > 4 else ""
comm = MPI.COMM_WORLD
units = read_plan(file).certificate.weights[comm.rank]
right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
values, sums = np.zeros(100), np.zeros(2)
step = 0
while step < steps or word == "hang":
    time.sleep(units * costs[comm.rank] / 2)
    comm.Sendrecv(values, right, 0, np.empty(100), left, 0)
    time.sleep(units * costs[comm.rank] / 2)
    comm.Sendrecv(values, right, 0, np.empty(100), left, 0)
    if word != "silent":
        for size in (1, 1, 1, 2):
            comm.Allreduce(sums[:size], np.empty(size))
    if word == "fail" and step == steps // 2 and comm.rank == 1:
        os._exit(3)
    step += 1
