"""Follows values through the project's code; `trainferry.migrate.values` answers with it."""
