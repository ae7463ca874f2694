"""The stacks: what is deployed, with what rights, and from which artifacts."""
