"""Stream programs that run: filters are functions, in software-pipelined steady state.

program.py      StreamProgram: functions, channels between them, and initial arrays of channels
firing.py       one call of a filter's function, and errors in what it returns
in_turn.py      runs filters one after the other: their times, and a program's outputs
between_cores.py  cost of bytes sent from one core to another, measured in the program
stages.py       how far filters are ahead of each other, and how many slots their channels have
turns.py        which copy of a filter runs which iterations
channels.py     channels between threads, and between MPI processes
cuda_firing.py  filters on CUDA devices, and channels between those of one device
run_channels.py the channels of a plan whose ends are in this process
processor.py    the loop of one processor: which filter it runs next, and its waits
executing.py    all processors of a plan, as threads or ranks; results.py: what a run returns
apps/           programs, each with verify()

Read program.py, then executing.py.
"""
