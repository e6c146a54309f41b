"""Starts the ranks of an MPI program where their blocks belong: rank r = block r = device r.

placing.py      a platform -> where each rank runs, and what is odd about it
launchers.py    which mpirun there is, by what it says of itself
jobs.py         what is to be started, and what starts it
openmpi.py, mpich.py, slurm.py, plain.py
                a job -> the files and the command for one launcher
rank_script.py  what a rank runs where the launcher cannot bind it, or has no word for its GPU
linked.py       whether a program is of the launcher's MPI
launch.py       the launcher's module for a job; running.py: the command, run to its end
"""
