"""Stream programs that run: filters are functions, in software-pipelined steady state.

program.py      StreamProgram: functions, channels between them, what lies there at first
firing.py       one call of a filter's function, and what may be wrong with what it returns
in_turn.py      one filter after the other: what each takes, and what a program gives
between_cores.py  what bytes from one core to another take, measured in the program
stages.py       how far filters are ahead of each other, and how many slots their channels have
turns.py        which copy of a filter runs which iterations
channels.py     channels between threads, and between processes of MPI
cuda_firing.py  filters on CUDA devices, and channels between those of one
run_channels.py which channels a plan has, and which of their ends are here
processor.py    the loop of one processor: which filter next, what it waits for
executing.py    all processors of a plan, as threads or ranks; results.py: what a run returns
apps/           programs, each with verify()

Read program.py, then executing.py.
"""
