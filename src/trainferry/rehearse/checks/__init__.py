"""What a rehearsal looks for: one file per check, its docstring is the user's page."""
