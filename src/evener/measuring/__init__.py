"""Measuring: how fast devices are at each load, and links; or the same from a program's own times.

session.py     one measurement, from Settings to a file of speeds, on all ranks
campaign.py    all loads of all devices, one after the other; a plan per device says which:
               loads.py along a grid, adaptive.py where the model is least certain
benchmark.py   one kernel at one load, until its mean is known well enough; outcomes.py:
               what comes of it, with its statistics
dynamic_sizes.py  sizes by measuring at relevant loads only, without models (DPA), also of a nested
               matrix product (INPA, IDPA); cuda_product.py: its CUDA devices
together.py    devices measured at the same time, on all ranks, each in a process of its own:
               workers.py is the parent's end, child.py the process, messages.py what they send
journal.py     every outcome on disk at once, so that an interrupted measurement goes on
kernels.py     what is timed, by name: cpu.py on a core, cuda.py on CUDA devices,
               cuda_streamed.py through their memory in strips (streamed.py)
rectangles.py  speeds of rectangles by height and width
links.py       links, by round trips (pings.py; messages.py is the other process)
devices.py     devices to be measured: by name, by a process file, or one for each rank
this_computer.py  what is known of this computer, by /sys and nvidia-smi; Slurm's nodes
machine.py     speeds and links for a machine file: of this computer, or of all ranks
ratio.py       how much faster a GPU is than a CPU, by arcs, here or emulated; its file
traces.py      samples from times that a program took, or from Paraver

Imports running, sizing, io and all below. Read session.py first, then campaign.py.
"""
