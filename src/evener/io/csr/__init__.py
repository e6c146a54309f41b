"""Binary CSR files (`.ecsr`): graphs of any size, read and written a range of rows at a time.

layout.py       the header, and where in the file each array lies: read this first
csr_file.py     CsrFile: the rows of a range, checked as they are read
csr_kernels.py  the checks
asymmetric.py   the edge that makes lists asymmetric

May import files; what is converted into such files is in evener.io.converting.
"""
