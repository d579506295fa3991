"""The gate of continuous integration: every check of the kit as steps of one verdict, for any target."""
