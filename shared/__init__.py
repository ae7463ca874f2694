"""Code that the functions, the command line and the stacks share: the models, the errors and the data layer."""
