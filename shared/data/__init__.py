"""The data layer: one module per entity, one function per access pattern. Only this package imports boto3."""
