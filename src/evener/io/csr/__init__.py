"""Binary CSR files (`.ecsr`): graphs of any size, read and written a range of rows at a time.

layout.py       the header, and the offset of each array: read this first
csr_file.py     CsrFile: reads and checks ranges of rows; finds edges that make lists asymmetric
csr_kernels.py  the checks

May import files; evener.io.converting converts other files to binary CSR.
"""
