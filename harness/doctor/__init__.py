"""Checks of an adapter against its contract, operation by operation, and the tests that the adapter makes
possible.

`examine.examine` holds a small conversation with a target for each operation that it declares. The
conversation needs no trace, and no request in it depends on a dialect: the checks are about the adapter, not
about the protocol.
"""
