"""The domain's nouns, by context, as frozen dataclasses.

Times are aware UTC datetimes of whole seconds, money decimal strings. They are several modules, for a dataclass takes
about as long to make as a module to import, and a function that starts makes only those of its own contexts.
"""
