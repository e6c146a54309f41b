"""Programs that run on unequal devices, each with run() and verify().

pagerank.py, bfs.py, wcc.py, sssp.py   vertex programs, run by the engine
kcore.py, triangles.py, spmv.py, laplacian.py   solvers: loops of their own, with kernels of theirs
rows.py     the rows of a graph's matrix, cut for threads, as spmv.py and laplacian.py need them
matrices.py what SciPy verifies programs by
registry.py all of these by name, as `evener run --app` knows them

Beside them, for programs that are not of graphs:

jacobi.py   Jacobi's method for a dense system: rows may move between ranks while it runs
matmul.py   C = A B: each rank has a rectangle, pivot rows and columns are exchanged
matmul_nested.py   the same over nodes of several devices, a slice each
"""
