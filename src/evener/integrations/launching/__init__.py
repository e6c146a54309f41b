"""Starts the ranks of an MPI program where their blocks belong: rank r = block r = device r.

placing.py      a platform -> where each rank runs, and anything unusual about it
launchers.py    which mpirun is installed, and which MPI a program is linked with
jobs.py         RankJob and Launch: the program to start, and the files and command that start it
openmpi.py, mpich.py, slurm.py
                a job -> the files and the command for one launcher
rank_script.py  script for ranks that the launcher cannot bind, or whose GPU it cannot set
launch.py       selects the launcher's module for a job; running.py: runs the command to its end
"""
