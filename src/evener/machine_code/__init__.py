"""Stores and finds the machine code of kernels: in this computer's files, and in packs.

cache.py  read first: what a kernel asks before it is compiled; the files of this computer
packs.py  many kernels in one file that is mapped into memory: what comes with a wheel
clock.py  CPU time without that of compiling and loading kernels

cli/precompile/precompile.py writes packs. This package imports nothing of Evener.
"""
