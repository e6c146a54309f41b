"""Measures speeds of devices at each load, and links; or reads a program's own times.

session.py     one measurement, from Settings to a file of speeds, on all ranks
campaign.py    measures devices load by load; each device has a plan of loads: loads.py: a grid;
               adaptive.py: where the model is least certain
benchmark.py   times one kernel at one load until its mean is precise; outcomes.py: the result, with
               its statistics
dynamic_sizes.py  finds sizes by measuring at relevant loads only, without models (DPA), also for a
               nested matrix product (INPA, IDPA); cuda_product.py: CUDA devices for that
together.py    measures devices at the same time, on all ranks, each in a separate process:
               workers.py is the parent's end, child.py the process, messages.py their protocol
journal.py     stores every outcome on disk, so that an interrupted measurement can continue
kernels.py     the kernels to time, by name: cpu.py for cores, cuda.py for CUDA devices,
               cuda_streamed.py for matrices larger than their memory, in strips (streamed.py)
rectangles.py  speeds of rectangles by height and width
links.py       measures links by round trips (pings.py; messages.py is the other process)
devices.py     devices to be measured: by name, by a process file, or one for each rank
this_computer.py  describes this computer by /sys and nvidia-smi, and Slurm's nodes
machine.py     speeds and links for a machine file: of this computer, or of all ranks
ratio.py       speed of a GPU over that of a CPU, by arcs, here or emulated; its file
traces.py      samples from a program's own times, or from Paraver

This package imports running, sizing, io and lower packages. Read session.py first, then
campaign.py.
"""
