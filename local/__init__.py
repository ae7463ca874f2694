"""The local cloud: MiniStack in the background, to which the real CDK deploys the real stacks."""
