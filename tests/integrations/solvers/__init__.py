"""Programs that tests run on ranks, by the system's Python: each saves `rank<r>.npz`."""
