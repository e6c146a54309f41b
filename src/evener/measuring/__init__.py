"""Placeholder, replaced by the package of this name."""
