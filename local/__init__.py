"""The local cloud: MiniStack in the background, and the real CDK deploying the real stacks to it."""
