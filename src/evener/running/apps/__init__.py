"""Programs that run on unequal devices, each with run() and verify().

pagerank.py, bfs.py, wcc.py, sssp.py   vertex programs, run by the engine
kcore.py, triangles.py, spmv.py, laplacian.py   solvers, with their own loops and kernels
rows.py     the rows of a graph's matrix, cut for threads, used by spmv.py and laplacian.py
matrices.py the matrix of a graph, with which SciPy verifies programs
registry.py all of these by name, for `evener run --app`

Programs that do not work on graphs:

jacobi.py   Jacobi's method for a dense system: rows may move between ranks while it runs
matmul.py   C = A B: each rank has a rectangle; pivot rows and columns are exchanged
matmul_nested.py   the same over nodes of several devices, with one slice per device
"""
