"""Output for people: HTML reports, their pictures and charts, tables for terminals.

html.py              the pages of a plan and of a comparison (templates/); read this first
decisions.py         the page of a rebalancer's decision log; runs.py: the page of a run;
                     tuning.py: the page of `evener tune`
edge_report.py, stream_report.py
                     the pages of divided edges and of filters on devices; stream_graphs.py draws
                     a stream graph in ranks
certificates.py      the page's table of blocks, with the contract of each
headline.py, bars.py, stages.py, exchange_matrix.py, provenance.py, comparisons.py
                     the other sections of the pages, each named as its file
scenes.py, pictures.py
                     the picture of a mesh or graph: framing.py (what is shown), raster.py
                     (pixels), marks.py (names and colours of blocks); networks.py draws the
                     quotient graph if there are no coordinates
plots.py             figures by matplotlib, for scaling_plots.py, speed_plots.py, tilings.py;
                     no other file imports it
notebook.py          how a notebook shows a plan, a platform or a comparison; `Plan.plot`
tables.py            a plan as a table for a terminal; predicted times as text

This package imports `planning` and lower packages; `cli` imports it. Numbers become text in
evener.wording.
"""
