"""Speed models: how fast a device is at each load, from samples.

fitting.py    SpeedModel, Constant, and fit_model: the model of a kind that fits samples
piecewise.py  linear between samples, also of a rectangle's height and width (SpeedSurface)
akima.py      smooth through samples
samples.py    Sample, DeviceSpeeds: measured times
examples.py   the speed curves of the thesis's machines, emulated

Read samples.py, then fitting.py.
"""
