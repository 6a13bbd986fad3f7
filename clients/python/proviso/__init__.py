"""Client side of Proviso: the generated stubs of `proviso.v1`."""
