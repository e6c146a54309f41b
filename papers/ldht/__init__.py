"""[LDHT]_: load distribution on heterogeneous topologies."""
