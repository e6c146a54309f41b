"""Blocks of unequal weight: our own partitioners, other people's, repair and refinement of both.

registry.py      the way to any of them, by name; tools.py lists them, calls.py calls them,
                 requests.py is what is asked; external/ has other people's, in child processes

Our own, shrunk and refined level by level:

multilevel.py    the whole of it; presets.py says how much work, starts.py and tries.py where it
                 begins, levels.py, hierarchies.py and placed.py what it works on
kmeans.py        balanced k-means from coordinates (kmeans_start.py: where it starts);
                 diffusion.py, embedding.py the same without coordinates
bisection.py     recursive bisection of a small graph
refinement.py    how a level is refined: fm.py (localized FM), cutting.py (minimum cuts along
                 borders), volumes.py (exact communication volumes)
seconds.py       refinement for predicted seconds, on the accounts of seconds_books.py
propagation.py   label propagation, for graphs of uneven degrees (skew.py): clusters and cycles in
                 propagation_cycles.py, rounds in propagation_rounds.py
several.py       several weights a vertex; several_*.py are its loads, start, balance, refinement
hierarchical.py  along the tree of a machine (trees.py)
georef.py        the LDHT paper's: k-means, then FM between pairs of blocks (grouping.py)
geometric.py     by place alone: Hilbert curve, RCB, RIB

Anybody's blocks:

enforce.py       brings them within their contract: weight flows along neighbouring blocks
                 (flowing.py), in balls where none are (peeling.py), heavy vertices one by one
                 (packing.py), connected on request (connecting.py); state.py is what all share
proofs.py        proofs that no partition keeps a contract
refine.py        improves them, never worsens them; judged.py compares

A plan enters this room three times: for blocks, to bring them within their contract, and to map
them onto devices.
"""
