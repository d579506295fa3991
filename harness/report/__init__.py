"""Findings of a run of the kit, as one page and as one screen."""
