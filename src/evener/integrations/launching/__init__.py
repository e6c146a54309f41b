"""Starts the ranks of an MPI program where their blocks belong: rank r = block r = device r.

placing.py      a platform -> where each rank runs, and anything unusual about it
launchers.py    which mpirun is installed, judging by its --version
jobs.py         what is to be started, and what starts it
openmpi.py, mpich.py, slurm.py, plain.py
                a job -> the files and the command for one launcher
rank_script.py  script for ranks that the launcher cannot bind, or whose GPU it cannot set
linked.py       whether a program is linked with the launcher's MPI
launch.py       the launcher's module for a job; running.py: runs the command to its end
"""
