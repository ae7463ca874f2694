"""The stacks: what is deployed, with which rights, and from which artifacts."""
