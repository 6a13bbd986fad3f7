"""Tunes the embedded models on labelled contracts: `make train`. It needs torch, which nothing else of the project
does."""
