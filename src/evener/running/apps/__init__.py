"""Programs that run on unequal devices, each with run() and verify().

jacobi.py   Jacobi's method for a dense system: rows may move between ranks while it runs
matmul.py   C = A B: each rank has a rectangle, pivot rows and columns are exchanged
spmv.py     repeated products by a sparse matrix: rows by any partition, ghosts exchanged
"""
