"""Who this process is among all: the only one."""

_state = {"started": False}


def init(*args, **kwargs):
    _state["started"] = True


def shutdown():
    _state["started"] = False


def is_initialized():
    return _state["started"]


def _require():
    if not _state["started"]:
        raise ValueError("Horovod has not been initialized; use hvd.init().")


def size():
    _require()
    return 1


def rank():
    _require()
    return 0


local_size = cross_size = size
local_rank = cross_rank = rank


def is_homogeneous():
    _require()
    return True


def _is_not_there():
    return False


mpi_threads_supported = mpi_enabled = mpi_built = gloo_enabled = gloo_built = _is_not_there
nccl_built = ddl_built = ccl_built = cuda_built = rocm_built = _is_not_there
