"""Programs that run on unequal devices, each with run() and verify().

jacobi.py   Jacobi's method for a dense system: rows over ranks, moved while it runs
matmul.py   C = A B: a rectangle a rank, pivot rows and columns exchanged
spmv.py     y = A x, again and again: rows by any partition, ghosts exchanged
"""
