"""Reproducing: papers' tables and figures, on emulated machines where theirs are not at hand.

findings.py             what a paper says beside what we see, the verdict, and the plots
fupermod.py             [Cla14]_, all of it
fupermod_balancers.py   its balancers and ours, and programs under them
fupermod_balancing.py   what they do iteration by iteration: figures 2.2 to 2.7
fupermod_speedup.py     what they gain: figures 4.3 and 4.4
fupermod_partial.py     its matrix products with partial models: table 4.2, figure 4.6
fupermod_rectangles.py  over rectangles: figures 5.4 and 5.5
fupermod_hybrid.py      with GPUs: figure 5.10
here.py                 predicted against measured seconds on this computer; here_pair.py its two
                        devices, here_child.py their processes, here_errors.py the errors

Imports measuring, running, sizing and all below. Read findings.py first.
"""
