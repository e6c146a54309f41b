"""Reproduces papers' tables and figures, on emulated machines where theirs are not available.

findings.py             statements of a paper beside what we see, verdicts, plots
intervals.py            figures with their 95 % intervals, and whether these decide
fupermod.py             all experiments of [Cla14]_
fupermod_balancers.py   its balancers and ours, and programs that they balance
fupermod_balancing.py   the balancers iteration by iteration: figures 2.2 to 2.7
fupermod_speedup.py     their speed-up on 16 servers, redistribution counted: figures 4.3 and 4.4
fupermod_models.py      where one speed suffices, splines, shapes: figures 2.1, 3.3 and 5.2
fupermod_products.py    matrix products with partial models: table 4.2, figure 4.6
fupermod_rectangles.py  matrix products over rectangles: figures 5.4 and 5.5; fupermod_surfaces.py
                        the nodes' surfaces; fupermod_messages.py what a product sends
fupermod_hybrid.py      matrix products on nodes with GPUs: figures 5.9 and 5.10; fupermod_nodes.py
                        the nodes of table 5.3; fupermod_nested.py sizes between and within them
dhgp.py                 all experiments of [Guo16]_
dhgp_setup.py           its graphs and machines, shrunk; dhgp_runs.py what is run on them;
                        dhgp_own.py our plan beside its policies; dhgp_findings.py its statements
                        beside what we see
spac.py                 all experiments of [SPAC]_ that need no GPU
spac_setup.py           its matrices and graphs, or stand-ins; spac_runs.py its methods, its rivals
                        and ours on them; spac_findings.py its statements beside what we see;
                        spac_gpu.py memory transactions by a model, and the statements about them;
                        spac_theorems.py section 3.4 on all small connected graphs
hmap.py                 all experiments of [Muralidharan13]_
hmap_setup.py           its classes of graphs, and which cells are drawn; hmap_runs.py its methods
                        and ours on them; hmap_bars.py bars of Figure 3 and gains;
                        hmap_findings.py its statements beside what we see
ldht.py                 all experiments of [LDHT]_
ldht_setup.py           its graphs, machines and partitioners, and what is here in their place;
                        ldht_runs.py cuts, volumes and seconds of all; ldht_solving.py SpMV and CG
ldht_paper.py           numbers that it prints; ldht_ratios.py means relative to geoKM
ldht_sizes.py           its statements on sizes; ldht_findings.py on Figures 1 to 4;
                        ldht_solved.py on Figure 5; ldht_table_iv.py on Table IV
keeping.py              rows of cells kept on disk, for long runs that are interrupted
here.py                 predicted against measured seconds on this computer; here_pair.py its two
                        devices and their processes

Imports measuring, partitioning, planning, running, sizing, splitting, streams and all below. Read
findings.py first.
"""
