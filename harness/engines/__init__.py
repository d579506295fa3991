"""Model checkers behind one interface."""
