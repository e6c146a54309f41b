"""Stores and finds the machine code of kernels: in this computer's files, and in packs.

cache.py  read first: where a kernel is searched before it is compiled; the files of this computer
packs.py  many kernels in one file that is mapped into memory, as in a wheel
clock.py  CPU time, excluding the time of compiling and loading kernels

cli/precompile/precompile.py writes packs. This package imports nothing of Evener.
"""
