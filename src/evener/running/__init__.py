"""Running on devices: what ranks say to each other, and machines that exist on paper.

comm.py         ranks as threads of this process or as processes of MPI
swaps.py        buffers exchanged again and again between the same ranks
halos.py        which vertices a rank owns, which ghosts it needs, and what it sends
spreading.py    rows divided over ranks, moved when their sizes change
emulation.py    devices with given speed models, noise and drift, on a virtual clock
"""
