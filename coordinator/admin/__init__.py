"""Administration (D1, D2): groups listed and deleted, their configurations, metrics, and the command line."""
