"""Reproduces papers' tables and figures, on emulated machines where theirs are not available.

cla14/       FuPerMod [Cla14]_: balancing.py and speedup.py balancers and redistribution (2.3.1,
             4.3), models.py splines and shapes, products.py partial models, surfaces.py and
             rectangles.py tilings (5.1), hybrid.py nodes with GPUs (5.2.3)
guo16/       distributed heterogeneous graph processing [Guo16]_
hmap/        HMAP [Muralidharan13]_
ldht/        load distribution on heterogeneous topologies [LDHT]_; sizes.py statements on sizes,
             solved.py on Figure 5, table_iv.py on Table IV; tools.py partitioners that it alone
             calls: Zoltan (zoltan.py), METIS from given blocks (metis_refinement.py, matching.py)
spac/        split-and-connect [SPAC]_; memory.py a model of caches and of memory transactions,
             gpu.py what it counts of the paper's kernels, theorems.py section 3.4 on all small
             connected graphs

In each: setup.py (graphs and machines, or what stands for them), runs.py (what is run on them),
findings.py (its statements beside what we see), experiments.py (all of them), results.jsonl and
README.md (the recorded results), tests/.

command.py   the command `python -m papers.NAME`: prints findings, writes plots and a page
findings.py  a statement of a paper beside what we see, its verdict, plots; drawing.py draws them
intervals.py figures with their 95 % intervals, and whether these decide
keeping.py   rows of cells kept on disk, for long runs that are interrupted
here.py      predicted against measured seconds on this computer; here_pair.py its two devices and
             their processes
children.py  lets child processes import papers
tables.py    tables of the pages, from the recorded results

Papers import the product, which imports nothing of them. Read findings.py first.
"""
