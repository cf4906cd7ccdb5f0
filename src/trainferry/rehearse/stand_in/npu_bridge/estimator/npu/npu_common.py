"""Stands in for the description of a job, as the estimator of the NPU reads it."""

import os

from trainferry_stand_in import ranks


class JobInfo:
    """Names and folders of a job."""

    def __init__(
        self,
        job_id=0,
        job_config=None,
        heartbeat_time=-1,
        region_id=None,
        ak=None,
        sk=None,
        endpoint_url=None,
        device_info=None,
        rank_table_file=None,
        restart_flag=0,
        local_app_dir=None,
        local_data_dir=None,
        local_checkpoint_dir=None,
        local_log_dir=None,
        local_result_dir=None,
        local_boot_file=None,
        rank_size=1,
    ):
        given = dict(locals())
        given.pop("self")
        self.__dict__.update({"_" + name: value for name, value in given.items()})


class JobConfig:
    """What a job trains with."""

    def __init__(self, learning_rate=None, batch_size=None):
        self._learning_rate = learning_rate
        self._batch_size = batch_size


class DeviceInfo:
    """The device of this process."""

    def __init__(self, index="0", server_id="123456", dev_index=1):
        self._index = index
        self._server_id = server_id
        self._dev_index = dev_index

    def is_master_node(self):
        return self._index == "0"


class NPUBasics:
    """The job of this process; there is one."""

    _instance = None

    def __new__(cls, file_name):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __init__(self, file_name):
        device = DeviceInfo(str(ranks.world_rank()), "127.0.0.1", ranks.world_rank())
        self._jobinfo = JobInfo(
            job_id=os.environ.get("JOB_ID", ""),
            device_info=device,
            rank_table_file=os.environ.get("RANK_TABLE_FILE", ""),
            rank_size=ranks.world_size(),
        )

    @property
    def jobinfo(self):
        return self._jobinfo

    def size(self):
        return ranks.world_size()
