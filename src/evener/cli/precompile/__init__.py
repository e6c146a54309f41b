"""Compile all kernels in advance, for `evener warm`, and report when one is being compiled.

precompile.py  read first: divides the rehearsals among processes, and is such a process;
               writes packs: all kernels in one file, for wheels and for other computers
rehearsals.py  calls that reach every kernel; sliced_rehearsals.py: of graphs in slices
samples.py     files, meshes, graphs and a machine for them
first.py       the few of them that the first plan of a mesh needs
compiler.py    all kernels, those being compiled, and the folder of machine code
"""
