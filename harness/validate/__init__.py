"""Is a recorded run of a coordinator a behaviour of the specification? (`conform validate`)"""
