"""What people look at: tables, pictures, the report's page. The only place with units in text.

html.py          the report of a plan, of a comparison; decisions.py that of a program's decisions
headline.py      the five figures at the head; certificates.py, comparisons.py, stages.py (in plain
                 words: stage_words.py), limiting.py, matrices.py, provenance.py, speed_section.py,
                 courses.py: the pages' sections
tables.py        a plan as a short table for a screen of text
pictures.py      the picture of a mesh (scenes.py in space): raster.py, shapes.py, framing.py,
                 insets.py, labels.py, colours.py, png.py; networks.py the quotient graph;
                 bars.py, volumes.py charts
plots.py         figures by matplotlib: line_plots.py, scaling_plots.py, speed_plots.py,
                 surface_plots.py, tilings.py
numbers.py       numbers as people read them; clocks.py predicted times
"""
