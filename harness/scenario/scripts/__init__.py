"""Scenarios of classic and Connect groups: scripts over their open instances, one module for each kind of
group."""
