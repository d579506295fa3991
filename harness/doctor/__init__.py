"""Tell if an adapter keeps its side of the contract, operation by operation, and what it is good for.

`examine.examine` holds a small conversation with a target for each operation that it declares. No trace is
needed, and nothing is asked that depends on a dialect: this is about the adapter, not about the protocol.
"""
