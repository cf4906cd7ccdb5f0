"""Lets TensorFlow infer the shapes of a graph that is thrown away again."""

from tensorflow.python.framework import c_api_util, errors, importer, ops, versions

from .export import shape_of
from .own_calls import own_call


class CannotInfer(Exception):
    """TensorFlow does not take the graph that we made."""


def infer_shapes(definition, names):
    """The shapes of the outputs of the operators `names`: {operator: [shape]}."""
    try:
        if versions.VERSION.startswith("1."):
            return _infer_in_library(definition, names)
        return _infer_in_graph(definition, names)
    except (ValueError, errors.OpError) as error:
        raise CannotInfer(str(error)[:500]) from error


def _infer_in_graph(definition, names):
    graph = ops.Graph()
    with own_call(), graph.as_default():
        importer.import_graph_def(definition, name="")
    return {
        operator.name: [shape_of(tensor) for tensor in operator.outputs]
        for operator in graph.get_operations()
        if operator.name in names
    }


def _infer_in_library(definition, names):
    """TensorFlow 1 makes a slow Python object of every operator; its library need not."""
    from tensorflow.python import pywrap_tensorflow as library

    graph = c_api_util.ScopedTFGraph()
    options = c_api_util.ScopedTFImportGraphDefOptions()
    with c_api_util.tf_buffer(definition.SerializeToString()) as text:
        results = library.TF_GraphImportGraphDefWithResults(graph.graph, text, options.options)
    library.TF_DeleteImportGraphDefResults(results)
    found = {}
    for name in names:
        operator = library.TF_GraphOperationByName(graph.graph, name)
        found[name] = [
            _shape(library, graph.graph, operator, number)
            for number in range(library.TF_OperationNumOutputs(operator))
        ]
    return found


def _shape(library, graph, operator, number):
    output = library.TF_Output()
    output.oper, output.index = operator, number
    sizes, has_no_rank = library.TF_GraphGetTensorShapeHelper(graph, output)
    return None if has_no_rank else [None if size < 0 else size for size in sizes]
