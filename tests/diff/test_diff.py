"""`conform diff` on a counter of ten lines and edits of it, of which every difference is known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lights import CONFIG, REFUSES, conform, diff, light

from harness.itf import read_trace

CHECKED = f"{CONFIG}INVARIANTS AtMostThree AtMostTwo\nPROPERTY NeverZeroAgain\n"


def test_the_effects_of_an_edit(tmp_path: Path) -> None:
    """At 2 `Up` is refused and `Reset` is gone; at 0 there is a `Jump`. 3 is not reached any more."""
    edit = REFUSES | {
        "Reset == at = 2 /\\ at' = 0": "Jump == at = 0 /\\ at' = 2",
        'Says("Reset", "ok")': 'Says("Jump", "ok")',
        "\\/ Reset": "\\/ Jump",
    }
    exit_code, data, output = diff(tmp_path, light(tmp_path / "a"), light(tmp_path / "b", edit))
    assert exit_code == 0
    (model,) = data["models"]
    assert model["states"] | {"both": 3, "only_a": 1, "only_b": 0, "steps_from_only_a": 2} == model["states"]
    assert model["inputs"] == {"all": 7, "same": 4, "changed": 1, "forbidden": 1, "added": 1}
    assert model["actions"]["Up"] == {"same": 2, "changed": 1, "forbidden": 0, "added": 0}
    changed, forbidden, added = model["kinds"]
    assert [one["kind"] for one in model["kinds"]] == ["changed", "forbidden", "added"]
    ways = changed["example"]["way"], changed["example"]["way_b"]
    assert ways == (["Up → ok", "Up → ok"],) * 2  # a jump is shorter, but in B alone
    assert [one["answer"] for side in "ab" for one in changed["example"][side]] == ["ok", "full"]
    assert [one["effects"][0]["effect"] for side in "ab" for one in changed["example"][side]] == [
        "at: 2 → 3",
        "nothing changes",
    ]
    assert (forbidden["action"], forbidden["example"]["b"]) == ("Reset", [])
    assert forbidden["about"] == added["about"] == ["at"]
    assert (added["action"], added["example"]["way"], added["example"]["a"]) == ("Jump", [], [])
    assert {(edit["definition"], edit["change"]) for edit in data["edits"]} == {
        ("Up", "changed"),
        ("Reset", "removed"),
        ("Jump", "added"),
        ("Next", "changed"),
    }
    assert "7; 1 another outcome, 1 forbidden, 1 added" in output


def test_fields_beside_the_step_make_no_states(tmp_path: Path) -> None:
    """`admin` says what was asked and answered; where `listed` differs, the answer does, and nothing else."""
    beside = {
        "VARIABLES at, step": "VARIABLES at, step, admin",
        "response |-> response]": "response |-> response] /\\ admin' = [name |-> action, listed |-> at]",
        'response |-> ""]': 'response |-> ""] /\\ admin = [name |-> "", listed |-> 0]',
        "<<at, step>>": "<<at, step, admin>>",
    }
    edit = {**beside, "response |-> response]": beside["response |-> response]"].replace("|-> at]", "|-> 0]")}
    code, data, output = diff(tmp_path, light(tmp_path / "a", beside), light(tmp_path / "b", edit))
    assert code == 0
    (model,) = data["models"]
    assert model["states"] | {"both": 4, "only_a": 0, "only_b": 0} == model["states"]
    assert model["inputs"] == {"all": 8, "same": 1, "changed": 7, "forbidden": 0, "added": 0}
    (example,) = [kind["example"] for kind in model["kinds"] if kind["action"] == "Reset"]
    assert example["way"] == ["Up, name Up → ok", "Up, name Up → ok, listed 1"]
    assert [one["answer"] for side in "ab" for one in example[side]] == ["ok, listed 2", "ok"]
    assert "admin" not in output
    assert {"step", "admin"} < set(read_trace(tmp_path / "out" / example["a"][0]["trace"]).states[-1])


def test_added_steps_with_other_effects_are_kinds_of_their_own(tmp_path: Path) -> None:
    """`Halve` leaves the light where it is at 0, and moves it elsewhere."""
    edit = {
        "Next ==": 'Halve == at\' = at \\div 2 /\\ Says("Halve", "ok")\nNext == Halve \\/',
    }
    _, data, output = diff(tmp_path, light(tmp_path / "a"), light(tmp_path / "b", edit))
    kinds = data["models"][0]["kinds"]
    assert [(one["action"], one["about"], one["inputs"]) for one in kinds] == [
        ("Halve", ["at"], 3),
        ("Halve", [], 1),
    ]
    assert kinds[1]["example"]["way"] == []
    assert "Halve, added, changes at: 3 inputs" in output
    page = (tmp_path / "out" / "index.html").read_text()
    assert "The step changes: at." in page and "The outcomes differ in" not in page


def test_examples_are_traces(tmp_path: Path) -> None:
    _, data, _ = diff(tmp_path, light(tmp_path / "a"), light(tmp_path / "b", REFUSES))
    example = data["models"][0]["kinds"][0]["example"]
    a, b = (read_trace(Path(example[side][0]["trace"])) for side in "ab")
    assert [state["at"] for state in a.states] == [0, 1, 2, 3]
    assert [state["at"] for state in b.states] == [0, 1, 2, 2]
    assert [state["step"]["action"] for state in b.states] == ["Init", "Up", "Up", "Up"]  # type: ignore[index, call-overload]
    page = (tmp_path / "out" / "index.html").read_text()
    assert all(f'href="{Path(example[side][0]["trace"]).name}"' in page for side in "ab")
    assert "http" not in page


def test_a_step_out_of_the_bounds_is_no_missing_step(tmp_path: Path) -> None:
    """From 3, A goes up to 4, which its bounds cut off: B, which stays there, does not add a step."""
    edit = {key: value.replace("at = 2", "at = 3") for key, value in REFUSES.items()}
    _, data, _ = diff(tmp_path, light(tmp_path / "a"), light(tmp_path / "b", edit))
    (model,) = data["models"]
    assert model["states"]["both"] == 4
    assert (model["inputs"]["changed"], model["inputs"]["added"]) == (1, 0)


def test_properties_of_both_versions(tmp_path: Path) -> None:
    """A breaks two of its properties, each of which is found; B breaks another than A does."""
    edit = REFUSES | {"AtMostThree == at <= 3": "AtMostThree == at # 2"}
    a, b = light(tmp_path / "a", config=CHECKED), light(tmp_path / "b", edit, CHECKED)
    exit_code, data, output = diff(tmp_path, a, b)
    assert exit_code == data["exit_code"] == 10
    verdicts = {one["property"]: one["verdict"] for one in data["models"][0]["properties"]}
    assert verdicts == {
        "AtMostThree": "no longer holds",
        "AtMostTwo": "holds now",
        "NeverZeroAgain": "fails in both",
    }
    broken = data["models"][0]["properties"][0]["counterexample_b"]
    assert broken["steps"] == ["Up → ok", "Up → ok"]
    assert len(read_trace(Path(broken["trace"])).states) == 3
    assert "verdict: no longer holds: AtMostThree of Light" in output


def test_the_verdict_names_properties_that_are_gone_or_fail_in_both(tmp_path: Path) -> None:
    a = light(tmp_path / "a", config=f"{CONFIG}INVARIANTS AtMostThree AtMostTwo\n")
    b = light(tmp_path / "b", config=f"{CONFIG}INVARIANT AtMostTwo\n")
    code, _, output = diff(tmp_path, a, b)
    same = "verdict: the same behaviours within the bounds; "
    gone = "only the first version has it: AtMostThree of Light; fails in both: AtMostTwo of Light"
    assert (code, f"{same}{gone}\n" in output) == (0, True)
    page = (tmp_path / "out" / "index.html").read_text()
    assert '<span class="badge bad">AtMostThree: only the first version has it' in page
    code, _, output = diff(tmp_path, b, a)
    assert (
        code,
        f"{same}fails in both: AtMostTwo of Light; every other property still holds\n" in output,
    ) == (0, True)


@pytest.mark.parametrize("path", ["step.bye", "group.members.*.sent", "steps"])
def test_a_path_that_neither_version_has_is_refused(tmp_path: Path, path: str) -> None:
    a, b = light(tmp_path / "a"), light(tmp_path / "b", REFUSES)
    ended = conform(a, b, "--leave-out", path, "--leave-out", "step.response", "--out", tmp_path / "out")
    assert (ended.exit_code, f"neither version has {path}." in ended.output) == (2, True), ended.output


def test_a_variable_that_is_new_is_not_compared(tmp_path: Path) -> None:
    """A field that --leave-out names is not compared either."""
    edit = {
        "VARIABLES at, step": "VARIABLES at, seen, step",
        "Init == at = 0": "Init == at = 0 /\\ seen = 0",
        "response |-> response]": "response |-> response, by |-> 1] /\\ seen' = at",
        "_<<at, step>>": "_<<at, seen, step>>",
    }
    a, b = light(tmp_path / "a"), light(tmp_path / "b", edit)
    _, data, output = diff(tmp_path, a, b, "--leave-out", "step.by")
    assert data["models"][0]["inputs"] == {"all": 8, "same": 8, "changed": 0, "forbidden": 0, "added": 0}
    assert "verdict: the same behaviours within the bounds" in output
    assert "not compared: seen (B), step.by" in output


def test_a_specification_without_steps(tmp_path: Path) -> None:
    """TLC's names of actions are the inputs."""
    plain = {
        "VARIABLES at, step": "VARIABLES at",
        "<<at, step>>": "at",
        "Says(action, response) == step' = [action |-> action, response |-> response]": "Says(a, r) == TRUE",
        'Init == at = 0 /\\ step = [action |-> "Init", response |-> ""]': "Init == at = 0",
        "Bounded == Next /\\ at' <= 3": "Bounded == Next",
        "Up == at' = at + 1 /\\": "Up == at < 3 /\\ at' = at + 1 /\\",
    }
    gone = {**plain, "Next == Up \\/ Down \\/ Reset": "Next == Up \\/ Down"}
    _, data, _ = diff(tmp_path, light(tmp_path / "a", plain), light(tmp_path / "b", gone))
    (model,) = data["models"]
    same = {action: counts["same"] for action, counts in model["actions"].items()}
    assert same == {"Up": 3, "Down": 3, "Reset": 0}
    assert model["actions"]["Reset"]["forbidden"] == 1
    assert model["kinds"][0]["example"]["way"] == ["Up", "Up"]


def test_revisions_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    light(tmp_path / "spec")

    def git(*words: str) -> None:
        name = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *name, *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", "spec")
    git("commit", "-q", "-m", "first")
    _, data, output = diff(tmp_path, "HEAD", ".", "--model", "Light")
    assert (data["edits"], data["models"]) == ([], [])
    assert "the two versions say the same" in output
    module = tmp_path / "spec" / "Light.tla"
    module.write_text(module.read_text().replace("\\* back to where it came from", "\\* down"))
    assert "the two versions say the same" in diff(tmp_path, "HEAD:spec", "spec", "--model", "Light")[2]
    module.write_text(module.read_text().replace("\\/ Reset", ""))
    _, data, _ = diff(tmp_path, "HEAD", ".", "--model", "Light")
    assert data["models"][0]["inputs"]["forbidden"] == 1


def test_invalid_specifications(tmp_path: Path) -> None:
    module = light(tmp_path / "a")
    ended = conform(module, "no/such/place", "--out", tmp_path / "out")
    assert ended.exit_code == 2
    assert "'no/such/place' names no specification" in ended.output
    ended = conform(tmp_path / "a", tmp_path / "a", "--model", "Dark", "--out", tmp_path / "out")
    assert ended.exit_code == 2
    assert "has no model Dark: there is no Dark.tla in it" in ended.output
    ended = conform("kip-848", "kip-848,Fenced=TRUE", "--out", tmp_path / "out")
    assert ended.exit_code == 2
    assert "dialects have no constant Fenced" in ended.output
