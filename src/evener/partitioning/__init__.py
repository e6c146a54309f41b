"""Blocks of unequal weight: Evener's and other people's partitioners, repair and refinement.

By name, whichever partitioner it is:

registry.py      partition_with calls one, after a check that it can do what is asked
tools.py         the table of all, what each can do, and how it is called
requests.py      what is asked; external/: other people's, in child processes

Our own:

portfolio.py     one partition, or on small graphs the best of several, by
multilevel/      shrink, place, refine on the way back, on the levels of levels/; first blocks from
                 initial/ (k-means, bisection, diffusion, geometry); refinement/ (FM, minimum
                 cuts, volumes); label_propagation/ for graphs of uneven degrees
multiconstraint/ the same for several weights per vertex
hierarchical.py  along the tree of a machine
geographer.py    the LDHT paper's: k-means, then FM between pairs of blocks
makespan/        refinement for predicted seconds, called by planning
policies/        the policies of Guo et al., for machines of CPUs and GPUs

Any blocks:

enforce.py       brings them within their contract, with the steps of repair/; multiconstraint has
                 those for several weights
refine.py        improves them, and never makes them worse
mapping/         which device each block goes to

May import sizing (rounding), io (accept), plans, graphs and platforms. Read registry.py, then
portfolio.py and enforce.py.

A plan enters this room three times: for blocks, to bring them within their contract, and to map
them onto devices.
"""
