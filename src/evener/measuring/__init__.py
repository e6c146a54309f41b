"""How fast devices are at each load, and links: measured here, or read from a program's traces.

session.py      one measurement from settings.py to a file of speeds, on all ranks (ranks.py)
campaign.py     devices load by load, each with a plan (plans.py: along a grid of grids.py;
                adaptive.py: where the model is least certain, by doubts.py and answers.py)
benchmark.py    one kernel at one load, until statistics.py say that its mean is known (outcomes.py)
together.py     devices at work at the same time; workers.py starts child.py, a process a device,
                and speaks with it (messages.py); checks.py measures what stands out once more
journal.py      every outcome on disk as soon as it is known
kernels.py      what is timed, by name: dense.py, sparse.py; on CUDA devices cuda.py
rectangles.py   surfaces over height and width
linking.py      links: pings.py times round trips (echo.py at the other end), links.py fits them
devices.py      cores and CUDA devices by name; discover.py finds what this computer has
machine.py      this computer as a machine file; machine_ranks.py the computers of all ranks
traces.py       samples from a run's own times (timers.py) or Paraver's (paraver.py)
"""
