"""The papers' tables and figures, one file per paper; on emulated machines where need be.

findings.py             what a paper says beside what we see, and the plots
fupermod.py             [Cla14]_, all of it
fupermod_balancing.py   its balancers: figures 2.4 to 2.7 and 4.3, 4.4
fupermod_products.py    its matrix products: table 4.2, figures 4.6, 5.4, 5.5 and 5.10
here.py                 predicted against measured seconds on this computer; here_pair.py its two
                        devices, here_child.py their processes, here_errors.py what came of it
"""
