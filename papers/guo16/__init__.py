"""[Guo16]_: distributed heterogeneous graph processing."""
