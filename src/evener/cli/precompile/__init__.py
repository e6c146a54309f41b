"""Compile all kernels in advance, for `evener warm`, and report when one is being compiled.

precompile.py  read first: distributes rehearsals over processes, and is their main program;
               writes packs: all kernels in one file, for wheels and for other computers
rehearsals.py  calls that reach every kernel; sliced_rehearsals.py: of graphs in slices
samples.py     files, meshes, graphs and a machine for rehearsals
first.py       the few rehearsals that the first plan of a mesh needs
compiler.py    lists all kernels, watches compilations, finds the folder of machine code
"""
