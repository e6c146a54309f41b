"""Measures the ranks of any MPI program while it runs, and plans again at the speeds found.

waits.c      preloaded into the ranks: the time inside MPI, and marks at collective calls;
             counted_calls.h: the calls that count entries
traces.py    what it wrote, a RankTrace a rank
steps.py     traces -> the program's steps, and what each rank did in them
measured.py  steps -> speeds, what evening out can gain, and why it cannot
running.py   compiles waits.c for a launcher's MPI, and runs a command with it preloaded
"""
