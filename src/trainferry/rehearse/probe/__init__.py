"""What enters the user's process besides the stand-ins: Python 3.7, TensorFlow, no trainferry."""
