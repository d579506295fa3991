"""The shortest part of a trace that still fails in the same way (`conform shrink`)."""
