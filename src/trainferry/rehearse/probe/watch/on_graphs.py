"""Keeps what is known of a graph on the graph itself, so that it goes when the graph goes."""


def kept_on(graph, name, make):
    """What is kept on `graph` under `name`; made by `make()` at the first question."""
    attribute = "_trainferry_" + name
    found = getattr(graph, attribute, None)
    if found is None:
        found = make()
        setattr(graph, attribute, found)
    return found
