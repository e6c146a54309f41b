"""Compiles all kernels ahead (warm.py), and tells of compilation (compiler.py)."""
