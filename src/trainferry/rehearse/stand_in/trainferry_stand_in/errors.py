"""The errors of a stand-in; each says what the device would do."""


class NotOnThisMachine(NotImplementedError):
    """Something that only the device can do, and that no stand-in computes."""


class RefusedValue(ValueError):
    """A value that the device or its adapter refuses."""


class RefusedType(TypeError):
    """An argument of a type that the device or its adapter refuses."""


class NotInitialised(ValueError):
    """A question about ranks before collective communication was started, or after it ended."""


class UnknownRank(NameError):
    """`get_npu_rank_id` and its like before `init_resource`: on the device a NameError too."""


class WouldFail(RuntimeError):
    """A run that the device would end with an error."""


class WouldHang(RuntimeError):
    """Ranks that wait for one another for ever: the device would wait until its time is up."""


def only_on_device(name, what):
    """Refuse `name`, which on the device does `what`."""
    raise NotOnThisMachine(
        f"`{name}` runs on the device only: {what}. A rehearsal has no stand-in for it; "
        "leave this part out, or try it on the device."
    )
