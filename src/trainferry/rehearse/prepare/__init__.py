"""What a run stands on: a copy of the project, arguments, small data, environments."""
