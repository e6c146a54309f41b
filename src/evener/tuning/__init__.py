"""Measures the ranks of any MPI program while it runs, and plans again with the measured speeds.

waits.c      preloaded into the ranks: the time inside MPI, and marks at collective calls;
             counted_calls.h: the calls that count entries
traces.py    reads the files that waits.c wrote, one RankTrace for each rank
steps.py     traces -> the program's steps, and how each rank spent its time in them
measured.py  steps -> speeds, the gain that even blocks would give, reasons why there is none
again.py     tuned: a plan at the measured speeds; `_rounds` in cli/commands/tune.py runs the
             program with it, and takes it if its step is shorter (FASTER); without --prepare the
             plan is written as it is
running.py   compiles waits.c for a launcher's MPI, and runs a command with it preloaded
"""
