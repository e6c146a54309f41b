"""[Cla14]_: the thesis on FuPerMod, functional performance models."""
