"""What a run of the kit found, as one page and as one screen."""
