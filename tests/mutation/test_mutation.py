"""The hunt itself: what is changed, what is left alone, and what a run that was cut short keeps."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FunctionType

import pytest
from tests.helpers import CannotMountError, small_disk
from tests.mutation.modules import MODULES
from tests.mutation.mutate import mutants
from tests.mutation.run import KILLED, SURVIVED, Hunter, _codes, in_a_fork
from tests.mutation.state import ROOT, State, path_of
from tests.soak.processes import await_end, birth, descendants


def changes(source: str) -> list[str]:
    return [mutant.change for mutant in mutants(source, "x.py")]


def value(source: str, change: str) -> object:
    """Run a mutant and return its variable `x`."""
    (mutant,) = [one for one in mutants(source, "x.py") if one.change == change]
    names: dict[str, object] = {}
    exec(mutant.code, names)
    return names["x"]


@pytest.mark.parametrize(
    ("source", "change", "expected"),
    [
        ("x = 3 < 3", "Lt to LtE", True),
        ("x = 2 + 5", "Add to Sub", -3),
        ("x = 7", "7 to 8", 8),
        ("x = True", "True to False", False),
        ("x = 'a'", "'a' changed", "XX"),
        ("x = not 0", "Not dropped", 0),
        ("x = 0 or 2", "Or to And", 0),
        ("x = 1\nx += 2", "Add to Sub", -1),
        ("x = [1, 2, 3][1:]", "slice dropped", [1, 2, 3]),
        ("x = [1]\nx.clear()", "call dropped", [1]),
        ("def f():\n    return [1]\nx = f()", "returns None", None),
        ("x = 1 if str(1) else 2", "condition negated", 2),
        ("x = 0\nfor i in range(3):\n    if i == 1:\n        continue\n    x += 1", "Continue to Break", 1),
    ],
)
def test_one_thing_is_wrong(source, change, expected):
    assert value(source, change) == expected


def test_what_decides_nothing_is_left_alone():
    assert not changes('"""A module of 3 words."""\nimport a\n__all__ = ["b"]\nc: Literal["d"] = e(f"{1} message")')


def test_equal_changes_have_names_of_their_own():
    assert changes("x = [1, 1]") == ["1 to 2", "1 to 2 #2"]


def test_the_function_around_a_change_is_known():
    source = "a = 1\n\n@b\ndef c(d=2):\n    def e():\n        return 3 + d\n    return e\n"
    found = {mutant.change: mutant.lines for mutant in mutants(source, "x.py")}
    assert (found["1 to 2"], found["2 to 3"]) == (None, None)
    assert found["Add to Sub"] == found["3 to 4"] == found["returns None"] == (3, 7)


def test_a_line_cut_short_is_tried_again(tmp_path):
    first, second, *_ = mutants("x = [1, 2, 3]", "x.py")
    state = State(tmp_path, "lnmap.lexicon", MODULES["lexicon"])
    state.add(first, KILLED)
    state.add(second, KILLED)
    state.path.write_bytes(state.path.read_bytes()[:-5])
    again = State(tmp_path, "lnmap.lexicon", MODULES["lexicon"])
    assert again.results == {first.key: KILLED}
    again.add(second, KILLED)
    assert len(State(tmp_path, "lnmap.lexicon", MODULES["lexicon"]).results) == 2


def test_what_was_kept_is_read_without_writing_it_again(tmp_path, monkeypatch):
    """A full disk, or a kill, would take all results with it."""
    mutant = next(mutants("x = 1", "x.py"))
    State(tmp_path, "lnmap.lexicon", MODULES["lexicon"]).add(mutant, KILLED)
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: pytest.fail("the results were written again"))
    assert State(tmp_path, "lnmap.lexicon", MODULES["lexicon"]).results == {mutant.key: KILLED}


def test_a_full_disk_is_named_and_loses_no_result(tmp_path):
    try:
        with small_disk(tmp_path / "disk", 32) as place:
            state = State(place, "lnmap.lexicon", MODULES["lexicon"])
            state.add(next(mutants("x = 1", "x.py")), KILLED)
            (place / "ballast").write_bytes(bytes(shutil.disk_usage(place).free))
            state.add(next(mutants("x = 2", "x.py")), KILLED)  # there is room in its last page
            kept = dict(state.results)
            with pytest.raises(OSError, match=r"No space left on device: '.*jsonl'"):
                state.add(next(mutants(f"x = 3  # {'x' * 5000}", "x.py")), SURVIVED)
            assert State(place, "lnmap.lexicon", MODULES["lexicon"]).results == kept
    except CannotMountError as reason:
        pytest.skip(str(reason))


def test_a_process_that_hangs_is_ended():
    def hang() -> int:
        while True:
            pass

    assert in_a_fork(hang, 0.1) is None
    assert in_a_fork(lambda: 5, 30) == 5


def test_what_no_test_calls_survives(tmp_path):
    mutant = next(one for one in mutants(path_of("lnmap.lexicon").read_text("utf-8"), "x.py") if one.lines)
    hunter = Hunter("lnmap.lexicon", [mutant], State(tmp_path, "lnmap.lexicon", MODULES["lexicon"]), 0)
    hunter.functions = [FunctionType(one, {}) for one in _codes(mutant.code) if not one.co_freevars]
    assert hunter._try(mutant, []) == SURVIVED


OUTSIDE = """
from pathlib import Path
import lnmap.lexicon
from tests.mutation.mutate import mutants
from tests.mutation.run import import_anew
source = Path(lnmap.lexicon.__file__).read_text("utf-8")
found = [one for one in mutants(source, lnmap.lexicon.__file__) if one.change == "'numerals' changed"]
print([import_anew("lnmap.lexicon", one, ["tests/test_lexicon.py"], 60) for one in found if one.lines is None])
"""


def test_a_change_outside_of_functions_is_noticed_in_a_module_that_was_imported_before():
    done = subprocess.run([sys.executable, "-c", OUTSIDE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{[KILLED]}\n"


def test_why_a_test_fails_on_the_code_as_it_is(tmp_path):
    test = tmp_path / "test_x.py"
    test.write_text("def test_good(): pass\ndef test_bad(): 1 / 0\n")
    code = f"""
import pytest
from pathlib import Path
from tests.mutation.run import Hunter
from tests.mutation.state import State
hunter = Hunter("lnmap.lexicon", [], State(Path({str(tmp_path)!r}), "lnmap.lexicon", []), 0)
pytest.main(["-q", "-p", "no:cacheprovider", {str(test)!r}], plugins=[hunter])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "tests fail on the code as it is: [" in done.stderr
    assert "test_x.py::test_bad: " in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "test_good" not in done.stderr


def start_hunt(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.mutation", "normalize", "--folder", str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("interrupt", [signal.SIGINT, signal.SIGTERM])
def test_a_hunt_is_not_run_twice_at_once_and_nothing_outlives_an_interrupt(tmp_path, interrupt):
    hunt, end = start_hunt(tmp_path), time.monotonic() + 120
    while not any(path.stat().st_size for path in tmp_path.glob("*.jsonl")) and time.monotonic() < end:
        time.sleep(0.05)
    refused = start_hunt(tmp_path)
    said = refused.communicate()[1]
    assert said.startswith("another run is writing")
    assert said.endswith("give another --folder\n")
    assert refused.returncode == 1
    started = {pid: birth(pid) for pid in descendants(hunt.pid)}
    assert started
    hunt.send_signal(interrupt)
    assert hunt.communicate()[1].splitlines()[-1].startswith(f"interrupted; {tmp_path} keeps what was found")
    await_end(lambda: [pid for pid, began in started.items() if birth(pid) == began])


def test_results_that_cannot_be_kept_stop_the_hunt(tmp_path):
    mutant = next(mutants("x = 1", "x.py"))
    state = State(tmp_path, "lnmap.lexicon", MODULES["lexicon"])
    state.path.unlink()
    state.path.mkdir()
    with pytest.raises(pytest.UsageError, match="cannot keep results in"):
        Hunter("lnmap.lexicon", [], state, 0)._keep(mutant, KILLED)


def test_modules_and_tests_are_there():
    for module, tests in MODULES.items():
        assert path_of(f"lnmap.{module}").is_file()
        assert all((ROOT / test).exists() for test in tests)
