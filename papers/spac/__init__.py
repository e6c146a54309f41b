"""[SPAC]_: split-and-connect."""
