"""What the demo packs: the way of a click to a shop."""

PACKED = ("/go/1",)
