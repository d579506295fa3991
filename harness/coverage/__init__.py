"""Coverage of the specification by expression: the arms that no model reaches."""
