"""Balancing while a program runs.

balancer.py   Balancer: observe(times) gives new sizes where these pay, or None
learning.py   what is known of one device: a partial speed model, refined by each observation
constant.py   the traditional balancer, to compare with: one speed a device, the last one seen
"""
