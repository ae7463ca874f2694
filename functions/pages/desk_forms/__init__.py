"""What the forms of the editor's desk are made of."""
