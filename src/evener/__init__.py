"""Evener: splits one data-parallel computation over unequal devices."""
