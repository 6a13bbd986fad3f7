"""Isaacus's hosted models behind the model ports. What leaves the machine is described in docs/isaacus.md."""
