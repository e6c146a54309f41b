"""Blocks onto devices: near devices for blocks that exchange much, every contract kept."""
