"""python -m coordinator groups: the groups in a log, in the spirit of kafka-consumer-groups (D2)."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Callable, Sequence
from typing import Final

from coordinator.admin.configs import GROUP, GROUP_CONFIG, NAMES, known_name
from coordinator.admin.groups import STATES_OF_ALL, TYPES
from coordinator.admin.opened import coordinator_on
from coordinator.admin.other_members import other_group
from coordinator.admin.requests import DELETE, SET
from coordinator.admin.table import partitions, table
from coordinator.apis import APIS
from coordinator.consumer.subscription import regex_problem, topics_of
from coordinator.core.dialect import DIALECTS
from coordinator.core.errors import AppendFailed, BadInput, ErrorCode
from coordinator.core.fields import Json
from coordinator.service import Coordinator

REFUSED: Final = 1
"""The exit code where a group is unknown or refuses the request, or a regular expression is not valid."""
USAGE: Final = 2

EXAMPLES: Final = """\
examples:
  python -m coordinator groups list --log groups.db --state empty,stable --type consumer
  python -m coordinator groups describe --log groups.db --group orders --json
  python -m coordinator groups describe --log groups.db --type classic,consumer
  python -m coordinator groups delete --log groups.db --group orders --group payments
  python -m coordinator groups configs --log groups.db --group orders
  python -m coordinator groups configs --log groups.db --group orders \\
      --set group.consumer.session.timeout.ms=60000 --unset group.consumer.heartbeat.interval.ms
  python -m coordinator groups --validate-regex 'orders-.*' --log groups.db

exit codes:
  0  done
  1  a group is unknown or refused the request; the regular expression is not valid
  2  a wrong command line; a file that is no log, or that a running coordinator uses
"""


def groups(arguments: Sequence[str]) -> int:
    """The command with its arguments after `groups`; the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.validate_regex is None and options.verb is None:
        parser.error("say what to do: list, describe, delete, configs, or --validate-regex PATTERN")
    if options.validate_regex is not None and options.verb is not None:
        parser.error(f"--validate-regex stands alone, without {options.verb}")
    if options.verb == "describe" and not (
        options.group or options.all_groups or options.type or options.state
    ):
        parser.error("describe needs --group ID, --all-groups, --type TYPES or --state STATES")
    if options.log is None and options.verb is not None:
        parser.error(f"{options.verb} needs --log FILE, the log of a coordinator")
    try:
        if options.verb is None:
            return _validate_regex(options)
        with coordinator_on(options.log, options.dialect, _changes(options)) as coordinator:
            run: Callable[[Coordinator, argparse.Namespace], int] = options.run
            return run(coordinator, options)
    except (BadInput, AppendFailed) as error:
        print(f"{parser.prog}: {error}.", file=sys.stderr)
        return USAGE


def _changes(options: argparse.Namespace) -> bool:
    return options.verb == "delete" or (options.verb == "configs" and bool(options.set or options.unset))


def _common() -> argparse.ArgumentParser:
    """Add the options that may stand before or after the verb. Each call makes a new parser: parsers that
    share a parent share its defaults, too."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--log",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="the log file of a coordinator that does not run",
    )
    common.add_argument(
        "--dialect", default=argparse.SUPPRESS, help=f"one of {', '.join(DIALECTS)} (default: kip-848)"
    )
    common.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print JSON in place of tables"
    )
    return common


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coordinator groups",
        description="Look at the groups in the log of a coordinator that does not run, and change them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common()],
    )
    parser.add_argument(
        "--validate-regex",
        metavar="PATTERN",
        help="check a regular expression as RE2 reads it; with --log, list the topics that it matches",
    )
    parser.set_defaults(log=None, dialect="kip-848", json=False)
    verbs = parser.add_subparsers(dest="verb", metavar="list|describe|delete|configs")
    listing = verbs.add_parser(
        "list", parents=[_common()], help="list the groups with their types and states"
    )
    _add_filters(listing)
    listing.set_defaults(run=_list)
    described = verbs.add_parser(
        "describe", parents=[_common()], help="print epochs, members and offsets of groups"
    )
    which = described.add_mutually_exclusive_group()
    which.add_argument("--group", metavar="ID", action="append", help="a group; may be given several times")
    which.add_argument("--all-groups", action="store_true", help="all groups, or all that pass the filters")
    _add_filters(described)
    described.set_defaults(run=_describe)
    deleted = verbs.add_parser(
        "delete", parents=[_common()], help="delete groups that have no members, with their offsets"
    )
    deleted.add_argument(
        "--group", metavar="ID", action="append", required=True, help="a group; may be given several times"
    )
    deleted.set_defaults(run=_delete)
    configs = verbs.add_parser(
        "configs", parents=[_common()], help="print or change a group's own configurations"
    )
    configs.add_argument("--group", metavar="ID", required=True, help="the group, which need not exist yet")
    configs.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"set a configuration: {', '.join(NAMES)}",
    )
    configs.add_argument(
        "--unset",
        metavar="NAME",
        action="append",
        default=[],
        help="take a configuration back, so that the coordinator's own value counts",
    )
    configs.set_defaults(run=_configs)
    return parser


def _add_filters(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--state",
        metavar="STATES",
        help=f"only groups in these states, separated by commas: {', '.join(STATES_OF_ALL)}",
    )
    verb.add_argument(
        "--type", metavar="TYPES", help=f"only groups of these types, separated by commas: {', '.join(TYPES)}"
    )


def _ask(coordinator: Coordinator, api: str, body: Json) -> Json:
    return coordinator.request(api, APIS[api][1], {"id": "groups"}, body)


def _show(options: argparse.Namespace, content: Json, text: str) -> None:
    print(f"{json.dumps(content, indent=2)}\n" if options.json else text, end="")


def _words(given: str | None, known: Sequence[str], what: str) -> list[str]:
    """The words of a filter. BadInput for a word that means nothing, which would let no group pass."""
    words = [] if given is None else [word.strip() for word in given.split(",")]
    for word in words:
        if word.lower() not in {one.lower() for one in known}:
            raise BadInput(f"there is no {what} {word!r}; there are {', '.join(known)}")
    return words


def _passing(coordinator: Coordinator, options: argparse.Namespace) -> list[Json]:
    """The groups that pass --state and --type; all of them without these options."""
    body = {
        "statesFilter": _words(options.state, STATES_OF_ALL, "state"),
        "typesFilter": _words(options.type, list(TYPES), "type"),
    }
    groups: list[Json] = _ask(coordinator, "ListGroups", body)["groups"]
    return groups


def _list(coordinator: Coordinator, options: argparse.Namespace) -> int:
    groups = _passing(coordinator, options)
    rows = [(group["groupId"], group["groupType"], group["groupState"]) for group in groups]
    _show(options, {"groups": groups}, table(("GROUP", "TYPE", "STATE"), rows))
    return 0


def _all(coordinator: Coordinator) -> dict[str, Json]:
    return {group["groupId"]: group for group in _ask(coordinator, "ListGroups", {})["groups"]}


def _unknown(group_id: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(group_id, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known) or 'none'}"
    return f"there is no group {group_id!r} in this log; {hint}"


def _complain(problems: Sequence[str]) -> int:
    for problem in problems:
        print(f"python -m coordinator groups: {problem}", file=sys.stderr)
    return REFUSED if problems else 0


def _describe(coordinator: Coordinator, options: argparse.Namespace) -> int:
    listed = _all(coordinator)
    passing = [group["groupId"] for group in _passing(coordinator, options)]
    wanted = list(dict.fromkeys(options.group)) if options.group else passing
    problems = [_unknown(group_id, list(listed)) for group_id in wanted if group_id not in listed]
    problems += [_left_out(listed[group_id]) for group_id in wanted if group_id in listed.keys() - {*passing}]
    groups = [_described(coordinator, listed[group_id]) for group_id in wanted if group_id in passing]
    _show(options, {"groups": groups}, "\n".join(map(_text, groups)))
    return _complain(problems)


def _left_out(group: Json) -> str:
    """The sentence about a group that the command names and the filters leave out."""
    kind, state = group["groupType"], group["groupState"]
    return f"group {group['groupId']!r} is of type {kind} and in state {state}: the filters leave it out"


def _described(coordinator: Coordinator, listed: Json) -> Json:
    """The answer of ConsumerGroupDescribe, or the same fields for a group of another type, with the committed
    offsets."""
    group_id = listed["groupId"]
    (group,) = _ask(coordinator, "ConsumerGroupDescribe", {"groupIds": [group_id]})["groups"]
    every = {"groups": [{"groupId": group_id, "topics": None}]}
    (offsets,) = _ask(coordinator, "OffsetFetch", every)["groups"]
    known = {**listed, **(other_group(coordinator.describe(group_id)) if group["errorCode"] else group)}
    return {
        **{name: value for name, value in known.items() if not name.startswith("error")},
        "offsets": [
            {"topic": topic["name"], "partition": one["partitionIndex"], "offset": one["committedOffset"]}
            for topic in offsets["topics"]
            for one in topic["partitions"]
        ],
    }


_GROUP: Final = ("GROUP", "TYPE", "STATE", "GROUP EPOCH", "ASSIGNMENT EPOCH", "ASSIGNOR")
_MEMBER: Final = ("MEMBER", "INSTANCE", "EPOCH", "CLIENT", "HOST", "ASSIGNMENT", "TARGET")


def _text(group: Json) -> str:
    epochs = [group.get(name) for name in ("groupEpoch", "assignmentEpoch", "assignorName")]
    text = table(_GROUP, [(group["groupId"], group["groupType"], group["groupState"], *epochs)])
    if members := group.get("members"):
        text += "\n" + table(_MEMBER, map(_row, members))
    if group["offsets"]:
        rows = [(one["topic"], one["partition"], one["offset"]) for one in group["offsets"]]
        text += "\n" + table(("TOPIC", "PARTITION", "CURRENT OFFSET"), rows)
    return text


def _row(member: Json) -> Sequence[object]:
    identity = [member[name] for name in ("memberId", "instanceId", "memberEpoch", "clientId", "clientHost")]
    return (*identity, partitions(member["assignment"]), partitions(member["targetAssignment"]))


_NOT_DELETED: Final = {
    ErrorCode.NON_EMPTY_GROUP: "group {!r} has members; stop them, or wait for their sessions to end",
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "group {!r} was not deleted: the log took no records",
}


def _delete(coordinator: Coordinator, options: argparse.Namespace) -> int:
    known = list(_all(coordinator))
    results = _ask(coordinator, "DeleteGroups", {"groupsNames": options.group})["results"]
    problems, rows = [], []
    for result in results:
        group_id, code = result["groupId"], ErrorCode(result["errorCode"])
        rows.append((group_id, "deleted" if not code else code.name))
        if code:
            why = _NOT_DELETED.get(code)
            problems.append(why.format(group_id) if why else _unknown(group_id, known))
    _show(options, {"results": results}, table(("GROUP", "RESULT"), rows))
    return _complain(problems)


def _configs(coordinator: Coordinator, options: argparse.Namespace) -> int:
    changes = [*map(_set, options.set), *map(_unset, options.unset)]
    resource = {"resourceType": GROUP, "resourceName": options.group}
    if changes:
        body = {"resources": [{**resource, "configs": changes}]}
        (altered,) = _ask(coordinator, "IncrementalAlterConfigs", body)["responses"]
        if altered["errorCode"]:
            return _complain([altered["errorMessage"]])
    (result,) = _ask(coordinator, "DescribeConfigs", {"resources": [resource]})["results"]
    if result["errorCode"]:
        return _complain([result["errorMessage"]])
    configs = [
        {
            "name": config["name"],
            "value": config["value"],
            "source": "group" if config["configSource"] == GROUP_CONFIG else "broker",
        }
        for config in result["configs"]
    ]
    rows = [tuple(config.values()) for config in configs]
    shown = {"group": options.group, "configs": configs}
    _show(options, shown, table(("CONFIGURATION", "VALUE", "SOURCE"), rows))
    return 0


def _set(given: str) -> Json:
    name, sign, value = given.partition("=")
    if not sign:
        raise BadInput(f"--set wants NAME=VALUE, not {given!r}")
    return {"name": name, "configOperation": SET, "value": value}


def _unset(name: str) -> Json:
    if known_name(name) not in NAMES:
        raise BadInput(f"a group has no configuration {name!r}; it has {', '.join(NAMES)}")
    return {"name": name, "configOperation": DELETE, "value": None}


def _validate_regex(options: argparse.Namespace) -> int:
    """T1: show how the coordinator reads the expression; with a log, also which topics of the log match."""
    pattern = options.validate_regex
    if (problem := regex_problem(pattern)) is not None:
        _show(options, {"regex": pattern, "valid": False, "problem": problem}, "")
        return _complain([f"{pattern!r} is not a valid RE2 expression: {problem}"])
    shown: Json = {"regex": pattern, "valid": True}
    text = f"{pattern} is a valid RE2 expression\n"
    if options.log is not None:
        with coordinator_on(options.log, options.dialect, changes=False) as coordinator:
            shown["topics"] = sorted(topics_of((frozenset(), pattern), frozenset(coordinator.topics)))
        text += table(("TOPIC",), [(name,) for name in shown["topics"]])
    _show(options, shown, text)
    return 0
