"""Other people's networks, timed beside ours."""
