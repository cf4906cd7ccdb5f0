"""A boot file for a ModelArts training job, and a page that says how to create the job.

ModelArts hands a boot file the addresses of data and output as `--data_url` and `--train_url`. The
preset Ascend engine runs it once for each device, with the rank in the environment; every other
engine, and a custom image, once for each machine. The file written here does the right thing in
both cases. It needs Python 3.7 and, for addresses in OBS, the `moxing` package of the platform.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath

from trainferry.errors import UsageError
from trainferry.launch.environment import DEFAULT_PORT, VARIABLES
from trainferry.launch.write.files import LaunchFile, filled, on_one_line
from trainferry.launch.write.node_script import torchrun_words
from trainferry.launch.write.plan import LaunchPlan

# The fast local disk of a training container.
_DATA = PurePosixPath("/cache/data")
_OUTPUT = PurePosixPath("/cache/output")


@dataclass(frozen=True, kw_only=True)
class ModelArtsOptions:
    """What decides how data travels; texts, as they are given on a command line."""

    upload_minutes: str = "15"  # 0: once, at the end

    def __post_init__(self) -> None:
        if not self.upload_minutes.isdecimal():
            raise UsageError(
                f"`{on_one_line(self.upload_minutes)}` is not a number of minutes",
                hint="upload_minutes=15, or 0 to upload at the end alone",
            )


def modelarts_files(plan: LaunchPlan, options: ModelArtsOptions) -> tuple[LaunchFile, ...]:
    """The boot file, and the page about the job."""
    if plan.device_numbers:
        raise UsageError(
            "a ModelArts instance numbers its devices from 0",
            hint="leave out the device numbers",
        )
    entry = f"start_{plan.name.replace('-', '_')}.py"
    page = f"{plan.name}-modelarts.md"
    submit = f"follow {page}"
    template = resources.files("trainferry.launch.write").joinpath("modelarts_entry.txt")
    text = filled(template.read_text(encoding="utf-8"), {**_values(plan, options), "PAGE": page})
    return (
        LaunchFile(entry, text, submit, executable=True),
        LaunchFile(page, filled(_PAGE, _page_values(plan, entry)), submit),
    )


def _values(plan: LaunchPlan, options: ModelArtsOptions) -> dict[str, str]:
    command = torchrun_words(plan.command) if plan.starter == "torchrun" else plan.command
    return {
        "NAME": plan.name,
        "COMMAND": _list(command),
        "SHOWN": on_one_line(shlex.join(plan.command)).replace("\\", "\\\\").replace('"', "'"),
        "STARTER": repr(plan.starter),
        "NODES": str(plan.nodes),
        "DEVICES": repr(list(plan.devices)),
        "ENVIRONMENT": _dictionary(dict(plan.environment)),
        "VARIABLES": _dictionary({one.name: one.fact for one in VARIABLES}),
        "WORKING": repr(str(plan.working_folder) if plan.working_folder else None),
        "DATA": repr(str(plan.data_folder or _DATA)),
        "OUTPUT": repr(str(plan.output_folder or _OUTPUT)),
        "TABLE": repr(str(plan.rank_table) if plan.rank_table else None),
        "PORT": str(plan.rendezvous_port or DEFAULT_PORT),
        "RESTARTS": str(plan.restarts),
        "TIMEOUT": str(plan.connect_timeout_seconds),
        "UPLOAD": str(60 * int(options.upload_minutes)),
    }


def _list(words: tuple[str, ...] | list[str]) -> str:
    return "".join(["[\n", *(f"    {_literal(word)},\n" for word in words), "]"])


def _dictionary(pairs: dict[str, str]) -> str:
    lines = (f"    {_literal(key)}: {_literal(value)},\n" for key, value in pairs.items())
    return "".join(["{\n", *lines, "}"]) if pairs else "{}"


def _literal(text: str) -> str:
    """A Python literal of `text` on one line; `repr` writes what is not printable as escapes."""
    return repr(text)


def _page_values(plan: LaunchPlan, entry: str) -> dict[str, str]:
    device = {"npu": "Ascend", "cuda": "GPU", "cpu": "CPU"}[plan.device]
    image = f"your own: `{plan.image}`" if plan.image else "a preset one with the packages needed"
    limit = plan.time_limit_seconds
    return {
        "NAME": plan.name,
        "ENTRY": entry,
        "COMMAND": f"    {on_one_line(shlex.join(plan.command))}",
        "ENGINE": image,
        "DATA": on_one_line(str(plan.data_folder or _DATA)),
        "OUTPUT": on_one_line(str(plan.output_folder or _OUTPUT)),
        "DEVICES": f"{len(plan.devices)} x {device}",
        "NODES": str(plan.nodes),
        "LIMIT": f"{-(-limit // 3600)} hours" if limit else "none",
        "MANY": _MANY_MACHINES if plan.nodes > 1 else "",
    }


_MANY_MACHINES = """
The machines of a job share no disk. A run that starts again needs its last checkpoint on every
machine: mount an SFS Turbo file system and use a folder on it as the output folder.
"""

_PAGE = """\
# @NAME@ on ModelArts

`@ENTRY@` copies the data in, starts this command on every device, copies the output out, and ends
with the command's exit code:

@COMMAND@

## Before

1. Upload your project, with `@ENTRY@` in its first folder, to a folder of your OBS bucket.
2. Upload the data to another folder. Leave a third one empty, for the output.

## The training job

Create it in the console (Model Training > Training Jobs > Create) with these values:

| field | value |
|---|---|
| Boot mode and image | @ENGINE@ |
| Code directory | the folder of the project |
| Boot file | `@ENTRY@` |
| Input | name `data_url`, passed as a hyperparameter: the folder of the data |
| Output | name `train_url`, passed as a hyperparameter: the folder for the output |
| Specification of an instance | @DEVICES@ |
| Number of instances | @NODES@ |
| Maximum running time | @LIMIT@ |

With an image of your own the boot command is `python ${MA_JOB_DIR}/FOLDER/@ENTRY@`, where FOLDER is
the last part of the code directory's address.

Hyperparameters other than `data_url` and `train_url` are added to the command as `--name=value`.

## What it does

- Data from an `obs://` address is copied to `@DATA@` once on each machine. An input that ModelArts
  has downloaded itself is used where it lies: `@DATA@` becomes a link to it.
- What lies at `train_url` already is copied to `@OUTPUT@` first, so that a run goes on where it
  stopped. `@OUTPUT@` is copied back while the command runs and when it ends, even when it fails;
  machines other than the first copy to `train_url/machine-NUMBER`.
- The preset Ascend engine runs the boot file once for each device and says the rank; the file then
  starts one rank, or with torchrun leaves the work to the process of device 0.
- The job ends with an error when it has another number of instances or devices than planned.
@MANY@
## Submit from a command line

    ma-cli ma-job submit --code-dir obs://BUCKET/CODE/ --boot-file @ENTRY@ \\
      --data-url obs://BUCKET/DATA/ --log-url obs://BUCKET/LOGS/ \\
      --train-instance-type SPECIFICATION --train-instance-count @NODES@

`ma-cli ma-job submit --help` names the options for image, output and hyperparameters.
"""
