"""How the command line spells the arguments that an error's advice names."""

from __future__ import annotations

_OWN = {("direction", "backward"): "--reverse", ("resume", "False"): "--fresh"}
_NAMES = {"options": "--set"}


def as_flag(name: str, value: str = "") -> str:
    """Write an argument as a flag: --limit, --pairs identical, --calibrate, --set normalize=unit."""
    if " " in name:  # a command, such as "data get", about a benchmark and its pairs
        benchmark, pairs = value.split(" ")
        return f"lnmap {name} {benchmark} --pairs {pairs}"
    if (name, value) in _OWN:
        return _OWN[name, value]
    flag = _NAMES.get(name, "--" + name.replace("_", "-"))
    if value == "False":
        return flag.replace("--", "--no-", 1)
    return flag if value in ("", "True") else f"{flag} {value}"
