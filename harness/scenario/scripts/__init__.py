"""Scenarios of classic and Connect groups: scripts over their open instances, a module a kind of group."""
