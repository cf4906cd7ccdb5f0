"""`tf.contrib.training.HParams`: named settings with fixed types, read from text or JSON."""

import json
import numbers
import re

# name=value or name[index]=value, where a value may be a list in brackets.
_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"(?:(?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])(?:$|,\s*)"
)


def parse_values(values, type_map, ignore_unknown=False):
    """Read `values`, such as "a=1,b=[2,3],c[4]=5", with the types of `type_map`."""
    results = {}
    position = 0
    while position < len(values):
        found = _ASSIGNMENT.match(values, position)
        if not found:
            raise ValueError("Malformed hyperparameter value: " + values[position:])
        position = found.end()
        name = found.group("name")
        if name in type_map:
            _assign(results, found, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError("Unknown hyperparameter type for " + name)
    return results


def _assign(results, found, kind, text):
    name, index = found.group("name"), found.group("index")
    if found.group("value") is not None:
        value = _read(name, kind, found.group("value").strip(), text)
        if index is not None:
            value = {int(index): value}
    elif index is None:
        parts = [part.strip() for part in found.group("values").split(",")]
        value = [_read(name, kind, part, text) for part in parts if part]
    else:
        raise ValueError("Assignment of a list to a list index.")
    known = results.get(name)
    if known is not None and isinstance(known, dict) and isinstance(value, dict):
        if set(known) & set(value):
            raise _twice(f"{name}[{index}]", text)
        known.update(value)
    elif known is not None:
        raise _twice(name, text)
    else:
        results[name] = value


def _twice(name, text):
    return ValueError(f"Multiple assignments to variable '{name}' in {text}")


def _read(name, kind, value, text):
    try:
        if kind is bool:
            return _read_bool(value)
        return kind(value)
    except ValueError:
        raise ValueError(
            f"Could not parse hparam '{name}' of type '{kind.__name__}' "
            f"with value '{value}' in {text}"
        ) from None


def _read_bool(value):
    if value in ("true", "True"):
        return True
    if value in ("false", "False"):
        return False
    return bool(int(value))


def _cast(name, kind, value):
    """`value` as `kind`, where nothing is lost by it."""
    refused = ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    if value is None or kind is type(None):
        return value
    if isinstance(value, bool) != (kind is bool):
        raise refused
    if issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral):
        raise refused
    if isinstance(value, str) != issubclass(kind, str):
        raise refused
    if not isinstance(value, numbers.Number) and issubclass(kind, numbers.Number):
        raise refused
    return kind(value)


class HParams:
    """Settings as attributes. A value keeps its first type; a list stays a list."""

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        if hparam_def is not None:
            raise NotImplementedError(
                "HParams from a protocol buffer: TensorFlow 1.15 has it, the rehearsal on 2.x "
                "does not; rehearse with an interpreter that has tensorflow==1.15.5"
            )
        self._hparam_types = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name, value):
        if getattr(self, name, None) is not None:
            raise ValueError("Hyperparameter name is reserved: " + name)
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError("Multi-valued hyperparameters cannot be empty: " + name)
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name, value):
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError("Must not pass a list for single-valued parameter: " + name)
            value = [_cast(name, kind, one) for one in value]
        elif is_list:
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        else:
            value = _cast(name, kind, value)
        setattr(self, name, value)

    def del_hparam(self, name):
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values):
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict):
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json):
        return self.override_from_dict(json.loads(values_json))

    def set_model_structure(self, model_structure):
        self._model_structure = model_structure

    def get_model_structure(self):
        return self._model_structure

    def to_json(self, indent=None, separators=None, sort_keys=False):
        values = {
            name: "<function>" if callable(value) else value
            for name, value in self.values().items()
        }
        return json.dumps(values, indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self):
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key, default=None):
        if key not in self._hparam_types:
            return default
        kind, is_list = self._hparam_types[key]
        if default is not None:
            shown = f"list<{kind}>" if is_list else str(kind)
            message = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
            if is_list != isinstance(default, list):
                raise ValueError(message)
            try:
                for one in default if is_list else [default]:
                    _cast(key, kind, one)
            except ValueError as error:
                raise ValueError(f"{message}. {error}") from error
        return getattr(self, key)

    def __contains__(self, key):
        return key in self._hparam_types

    def __str__(self):
        return ",".join("{}={}".format(*pair) for pair in sorted(self.values().items()))

    def __repr__(self):
        return f"HParams({sorted(self.values().items())})"
