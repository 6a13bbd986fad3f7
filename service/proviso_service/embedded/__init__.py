"""Models that ship inside packages: nothing is downloaded."""
