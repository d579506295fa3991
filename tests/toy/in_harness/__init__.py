"""Groups of the toy protocol (tests/toy/spec/Toy.tla)."""
