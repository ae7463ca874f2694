"""What an execution environment of Lambda makes, reports and is given."""
