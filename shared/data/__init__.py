"""The data layer: one module per entity, one function per access pattern."""
