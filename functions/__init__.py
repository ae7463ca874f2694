"""The Lambda handlers, grouped by who may call what. A handler reads the request, calls the data layer, answers."""
