"""Keeps the machine code of kernels, and finds it again: in files of this computer, and in packs.

cache.py  read first: what a kernel asks before it is compiled; the files of this computer
packs.py  many kernels in one file that is mapped into memory: what comes with a wheel
clock.py  CPU time without that of compiling and loading kernels

A pack is written by cli/precompile/packing.py. Imports nothing of Evener.
"""
