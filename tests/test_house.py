"""The rules of the house that CONTRIBUTING.md states: the modules that each package may import, and the files
that cite a requirement."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
ID = re.compile(r"\b(?:[ERHASTOPMCKWDGQZ]\d{1,2})\b")
ROW = re.compile(r"^\| ([A-Z]\d{1,2}) \| .* \| (done|partly: .*|out of scope: .*) \|$", re.MULTILINE)
NOT_REQUIREMENTS = re.compile(r"\bRFC \d+|\bC[0-3] controls?\b|\bT\d{2}:|#[0-9A-Fa-f]{3,8}\b")


def requirements() -> dict[str, str]:
    """ID to status, from the tables of REQUIREMENTS.md."""
    return dict(ROW.findall((ROOT / "REQUIREMENTS.md").read_text()))


def sources(folder: str, suffix: str) -> list[Path]:
    return sorted((ROOT / folder).rglob(f"*{suffix}"))


@cache
def imports(path: Path) -> set[str]:
    """The modules that a Python file imports."""
    results: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            results |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            results.add(node.module or "")
    return results


def cited(paths: list[Path]) -> set[str]:
    """The requirement IDs in comments and docstrings of some files."""
    return {name for path in paths for name in ID.findall(NOT_REQUIREMENTS.sub("", path.read_text()))}


def test_the_coordinator_knows_nothing_of_the_harness() -> None:
    for path in sources("coordinator", ".py"):
        assert not any(name.split(".")[0] in {"harness", "tests"} for name in imports(path)), path


def test_only_its_targets_touch_the_coordinator() -> None:
    users = {
        str(path.relative_to(ROOT))
        for path in sources("harness", ".py")
        if any(name.split(".")[0] == "coordinator" for name in imports(path))
    }
    assert users == {
        f"harness/targets/{name}.py"
        for name in (
            "python",
            "python_member",
            "groups/python",
            "groups/classic",
            "groups/client",
            "groups/served",
            "groups/local_assignors",
            "broker/admin",
            "broker/connection",
            "broker/forms",
        )
    } | {f"harness/proxy/{name}.py" for name in ("conversation", "link", "messages", "record", "run")}
    for name, table in (("connection", "frames"), ("admin", "forms"), ("forms", "forms")):
        broker = imports(ROOT / f"harness/targets/broker/{name}.py")
        own = {each for each in broker if each.split(".")[0] == "coordinator"}
        assert all(each.startswith(f"coordinator.serve.{table}") for each in own), "tables of messages alone"
    for path in sources("harness/proxy", ".py"):
        own = {name for name in imports(path) if name.split(".")[0] == "coordinator"}
        tables = {
            f"coordinator.serve.{name}" for name in ("addresses", "codec", "frames", "group_apis", "reading")
        }
        assert own <= tables, "Kafka's messages alone, and nothing that answers them"


def test_only_the_ends_of_the_wire_and_the_proxy_need_kio() -> None:
    for path in [*sources("coordinator", ".py"), *sources("harness", ".py")]:
        ends = ("coordinator/serve", "harness/targets/broker", "harness/proxy")
        if path.parent not in {ROOT / end for end in ends}:
            assert not any(name.split(".")[0] == "kio" for name in imports(path)), path


def test_only_the_command_line_imports_the_command_line() -> None:
    for path in [*sources("harness", ".py"), *sources("benchmarks", ".py")]:
        if path.parent.name != "cli" and path.name != "__main__.py":
            assert not any(f"{name}.".startswith("harness.cli.") for name in imports(path)), path


def test_only_the_pipeline_needs_spark() -> None:
    for path in sources("harness", ".py"):
        if path.parent.name != "pipeline":
            packages = {name.split(".")[0] for name in imports(path)}
            assert not packages & {"pyspark", "pyarrow", "pandas"}, path


def test_only_its_commands_and_the_gate_import_the_pipeline() -> None:
    users = {
        str(path.relative_to(ROOT / "harness"))
        for path in sources("harness", ".py")
        if any(name.startswith("harness.pipeline") for name in imports(path))
        and path.parent.name != "pipeline"
    }
    assert users == {"cli/exhaust.py", "cli/simulate_groups.py", "gate/exhaust.py"}


def test_every_requirement_has_a_row_of_its_own() -> None:
    rows = ROW.findall((ROOT / "REQUIREMENTS.md").read_text())
    assert len(rows) > 30
    assert len(rows) == len(dict(rows))


@pytest.mark.parametrize(("folder", "suffix"), [("spec", ".tla"), ("coordinator", ".py"), ("harness", ".py")])
def test_cited_requirements_are_in_the_table(folder: str, suffix: str) -> None:
    assert cited(sources(folder, suffix)) <= requirements().keys()


def test_finished_requirements_are_cited_by_spec_code_and_tests() -> None:
    spec, code = cited(sources("spec", ".tla")), cited(sources("coordinator", ".py"))
    tests = cited([path for path in sources("tests", ".py") if path != Path(__file__)])
    for name, status in requirements().items():
        if status == "done" and name not in {row[0] for row in ELSEWHERE}:
            missing = [
                place for place, ids in [("spec", spec), ("code", code), ("tests", tests)] if name not in ids
            ]
            assert not missing, f"{name} is claimed as done, but is not cited in: {', '.join(missing)}"


WHERE = re.findall(
    r"^\| ([A-Z]\d+) \| (`.+`) \| (`.+`) \| `(\S+)`: (.+) \|$",
    (ROOT / "REQUIREMENTS.md").read_text(),
    re.MULTILINE,
)


ELSEWHERE = re.findall(
    r"^\| ([A-Z]\d+) \| (`[^|]+/[^|]+`) \| (`tests/[^|]+`) \|$",
    (ROOT / "REQUIREMENTS.md").read_text(),
    re.MULTILINE,
)
"""Requirements that no behaviour of the protocol shows: where each is done, and its tests."""


def test_finished_requirements_name_their_places() -> None:
    done = {name for name, status in requirements().items() if status == "done"}
    assert sorted(done) == sorted(row[0] for row in [*WHERE, *ELSEWHERE])


@pytest.mark.parametrize(("name", "places", "tests"), ELSEWHERE, ids=[row[0] for row in ELSEWHERE])
def test_where_what_no_behaviour_shows_is(name: str, places: str, tests: str) -> None:
    for place in re.findall(r"`([^`]+)`", places):
        path, _, defined = place.partition(":")
        assert (ROOT / path).exists(), place
        assert not defined or re.search(rf"^ *(def|class) {defined}\b", (ROOT / path).read_text(), re.M), (
            place
        )
    for test in re.findall(r"`([^`]+)`", tests):
        path, function = test.split("::")
        assert f"\ndef {function}(" in (ROOT / path).read_text(), test
    if name[0] != "G":
        assert name in cited(sources("coordinator", ".py"))
        assert name in cited([path for path in sources("tests", ".py") if path != Path(__file__)])


@pytest.mark.parametrize(
    ("name", "operators", "functions", "trace", "exercise"), WHERE, ids=[row[0] for row in WHERE]
)
def test_where_a_requirement_is(name: str, operators: str, functions: str, trace: str, exercise: str) -> None:
    modules = "".join(path.read_text() for path in sources("spec", ".tla"))
    for operator in re.findall(r"`(\w+)`", operators):
        assert re.search(rf"^ *{operator}\b(\(.*\))?( ==|,|$)", modules, re.MULTILINE), operator
    for function in re.findall(r"`([\w.]+)`", functions):
        assert is_defined(function.split(".")), function
    steps = [state["step"] for state in itf_states(ROOT / "traces" / f"{trace}.itf.json")]
    action, *how = exercise.split()
    assert any(
        step["action"] == action and set(how) <= {step["branch"], step["response"]["error"]} for step in steps
    ), f"no step of {trace} is a {exercise}"


def itf_states(path: Path) -> list[dict[str, Any]]:
    """The states of a trace, as JSON."""
    states: list[dict[str, Any]] = json.loads(path.read_text())["states"]
    return states


def is_defined(names: list[str]) -> bool:
    """Is there such a function or class in `coordinator`? `names` are its module's, a class's, its own."""
    folder = ROOT / "coordinator"
    while (folder / names[0]).is_dir():
        folder, names = folder / names[0], names[1:]
    body: Sequence[ast.stmt] = ast.parse((folder / f"{names[0]}.py").read_text()).body
    for name in names[1:]:
        results = [
            node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
        ]
        if not results:
            return False
        body = results[0].body
    return True


def test_a_file_can_be_held_in_the_head() -> None:
    every = [*sources("coordinator", ".py"), *sources("harness", ".py"), *sources("spec", ".tla")]
    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in every}
    assert len(lines) > 500
    assert {path: count for path, count in lines.items() if count > 450} == {}


PRONOUNS = (
    r"(?:(?:It|Its|They|Their|Them|Those|That of|And|So) "
    r"|The same(?= as | by | for | from | in | of | the | to | where | with|,))"
)
"""Words that stand for a noun that is somewhere else."""
PARSERS = ("harness/engines/tlc_output.py", "harness/engines/apalache_output.py")
"""The text of these files is in the key of every recorded result."""
VERBS_AS_NAMES = dict.fromkeys(
    ["harness", "coordinator", "benchmarks", "tests"], frozenset({"said", "told", "asked", "found"})
)
VERBS_ARE_DATA = {
    "harness/kinds/consumer/state.py": "a field `told` of the specification",
    "harness/kinds/features/computing_state.py": "a field `told` of the specification",
    "harness/simulate/shrink.py": "a source of recorded random operations",
    "tests/fuzz/fuzz_bodies.py": "a source of recorded random operations",
    **dict.fromkeys(
        ["tests/fuzz/fuzz.py", "tests/fuzz/fuzz_draw.py", "tests/fuzz/fuzz_run.py"],
        "a source of recorded random operations",
    ),
    "tests/serve/serve_soak.py": "a source of recorded kills and frames",
    "tests/serve/test_serve_fuzz.py": "a source of recorded random frames",
    "tests/kinds/test_rows.py": "a field for the test of absent fields",
}


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    """No docstring begins with a clause, or with a pronoun for a noun that is somewhere else. The two parsers
    of the engines' output are left as they are: each recorded result holds the hash of its parser."""
    riddle = re.compile(rf'^\s*"""(?:(?:What|Whether|Who|Of) |{PRONOUNS})', re.MULTILINE)
    results = {
        str(path.relative_to(ROOT)): len(riddle.findall(path.read_text()))
        for folder in ("coordinator", "harness", "benchmarks", "tests", "examples")
        for path in sources(folder, ".py")
    }
    assert len(results) > 800
    assert {path: count for path, count in results.items() if count and path not in PARSERS} == {}


def comments(module: str) -> list[str]:
    """The paragraphs of a module's comments, without types and the requirement IDs that they begin with."""
    lines = [
        re.sub(r"^\s*(?:\\\*|\(\*) ?|\s*\*\)$", "", line) if re.match(r"\s*(?:\\\*|\(\*)", line) else ""
        for line in module.splitlines()
    ]
    whole = "\n".join("" if line.startswith(("@type", "***")) else line for line in lines)
    ids = re.compile(r"^(?:[A-Z]\d+(?:, |: | \([^)]*\): ))+")
    return [ids.sub("", part.strip()) for part in re.split(r"\n\s*\n|\n(?= *\d+ )", whole)]


def test_comments_of_the_specification_begin_with_a_verb_or_a_noun() -> None:
    results = {
        path.name: [part for part in comments(path.read_text()) if re.match(PRONOUNS, part)]
        for path in sources("spec", ".tla")
    }
    assert len(results) > 100
    assert {name: parts for name, parts in results.items() if parts} == {}


def paragraphs(path: Path) -> list[str]:
    """The paragraphs of a document, of the docstrings and the help of options of a module, or of its comments
    in TLA+."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".tla":
        return comments(text)
    if path.suffix == ".md":
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        return [re.sub(r"^[-*] ", "", one) for one in re.split(r"\n\s*\n|\n(?=[-|#])", prose)]
    given = [
        node.value.value
        for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.Expr) or (isinstance(node, ast.keyword) and node.arg == "help"))
        and isinstance(node.value, ast.Constant)
    ]
    return [part for one in given if isinstance(one, str) for part in one.split("\n\n")]


def test_the_name_of_a_test_says_its_subject_first() -> None:
    """The name of a test begins with no clause (what, who, of), and nothing in it is said, told or found."""
    unclear = re.compile(r"test_(?:[a-z]\d+_)?(?:what|who|whether|of)_|_(?:said|told|asked|found)(?:_|$)")
    names = {
        name for path in sources("tests", ".py") for name in re.findall(r"\bdef (test_\w+)", path.read_text())
    }
    assert len(names) > 2_000
    assert sorted(name for name in names if unclear.search(name)) == []


@pytest.mark.parametrize(("folder", "unclear"), VERBS_AS_NAMES.items())
def test_no_value_has_a_verb_for_a_name(folder: str, unclear: frozenset[str]) -> None:
    """A value is named after what it is: an answer, a request, a match; not told, asked or found."""
    names = {}
    for path in sources(folder, ".py"):
        file = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[file, node.lineno] = node.id
            elif isinstance(node, ast.arg):
                names[file, node.lineno] = node.arg
    assert len(names) > 50
    verbs = {place for place, name in names.items() if name in unclear}
    assert sorted({file for file, _ in verbs} - {*PARSERS, *VERBS_ARE_DATA}) == []


def test_no_function_and_no_class_has_a_verb_for_a_noun() -> None:
    """A function is named after its result or its action, and after the operator that says the rule
    (`reported_by`, `bumps_group_epoch`): nothing is said, told, asked or found, and no name says."""
    unclear = {"said", "told", "asked", "found", "says"}
    names = {
        f"{path.relative_to(ROOT)}:{node.lineno}": node.name
        for folder in ("coordinator", "harness", "benchmarks")
        for path in sources(folder, ".py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    assert len(names) > 5_000
    words = {place: re.sub(r"([A-Z])", r"_\1", name).lower().split("_") for place, name in names.items()}
    assert {place: names[place] for place in names if not unclear.isdisjoint(words[place])} == {}


def test_comments_of_the_specification_name_their_nouns() -> None:
    """A comment names a member, a process or a client: nobody, somebody and whoever are none of them. The
    blocks of type aliases, whose text is in the hashes of all results, are not read."""
    words = re.compile(
        r"\b(?:nobody|somebody|anybody|whoever|whomever|no one|someone|anyone)\b", re.IGNORECASE
    )
    comments = {
        f"{path.name}:{number}": line[line.index(mark) :]
        for path in sources("spec", ".tla")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for mark in ("\\*", "(*")
        if mark in line
    }
    assert len(comments) > 4_000
    assert {place: text for place, text in comments.items() if words.search(text)} == {}


def test_no_sentence_begins_with_a_clause() -> None:
    """A sentence says its subject first: none begins with What, Whether, Who or Of, questions left aside. The
    rows of REQUIREMENTS.md, and docs/fields.md, which are made of tables, are not read."""
    clause = re.compile(
        r"(?:^|(?<=[.!?] ))(?:[Ww]hat|Whatever|[Ww]hether|[Ww]ho|Whoever|Whom|[Oo]f) "
        r"(?:[^.?!]|\.(?=\S))*(?:[.!]|$)"
    )
    documents = [
        *ROOT.glob("docs/*.md"),
        *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
    ]
    files = [one for one in documents if one.name not in ("requirements.md", "fields.md")]
    files += [*sources("harness", ".py"), *sources("coordinator", ".py"), *sources("benchmarks", ".py")]
    files += [*sources("tests", ".py"), *sources("examples", ".py"), *sources("spec", ".tla")]
    results = {
        str(path.relative_to(ROOT)): [
            hit for part in paragraphs(path) for hit in clause.findall(" ".join(part.split()))
        ]
        for path in files
    }
    assert len(results) > 400
    assert {path: hits for path, hits in results.items() if hits and path not in PARSERS} == {}
