"""Stands in for the scope that frees the memory of the initialisation graph."""


class ScopedGraphManager:
    """Only `sess.run` of initialisers belongs inside; a CPU frees their memory by itself."""

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.stop()

    def start(self):
        """Watch for initialisation graphs."""

    def stop(self):
        """Unload them."""
