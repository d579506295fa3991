"""TLC's messages, as recorded from its runs."""

from __future__ import annotations

from frozendict import frozendict

from harness.engines.base import Failure, Outcome
from harness.engines.tlc_output import counterexamples, failure, read_behaviour, read_messages, read_report
from harness.tlaparse import Reader


def message(code: int, severity: int, text: str) -> str:
    return f"@!@!@STARTMSG {code}:{severity} @!@!@\n{text}\n@!@!@ENDMSG {code} @!@!@\n"


def lines(*texts: str) -> list[str]:
    return "".join(texts).splitlines()


def state(number: int, label: str, value: int) -> str:
    return message(2217, 4, f"{number}: <{label}>\n/\\ at = {value}\n/\\ by = <<>>\n")


def test_large_figures_have_commas_or_not() -> None:
    report = read_report(
        lines(
            message(
                2200,
                0,
                "Progress(6) at 2026-01-01 00:00:00: 2,167,784 states generated, 9 distinct states found",
            ),
            message(
                2199, 0, "6090357 states generated, 1,109,967 distinct states found, 0 states left on queue."
            ),
            message(2194, 0, "The depth of the complete state graph search is 12."),
        )
    )
    assert (report.generated_states, report.distinct_states, report.depth) == (6090357, 1109967, 12)
    assert report.outcome is Outcome.HOLDS


def test_an_action_without_a_name_is_next() -> None:
    report = read_report(
        lines(
            message(2110, 1, "Invariant Inv is violated."),
            state(1, "Initial predicate", 0),
            state(2, "Go line 1, col 2 to line 3, col 4 of module M", 1),
            state(3, 'Send("a") line 1, col 2 to line 3, col 4 of module M', 2),
        )
    )
    assert report.actions == ["Init", "Go", "Send"]
    assert report.states[-1] == frozendict(at=2, by=())
    assert (report.outcome, report.violated) == (Outcome.VIOLATED, "Inv")


def test_messages_inside_an_error_are_errors() -> None:
    inner = message(5006, 0, "TLC found an error in the configuration file at line 2").rstrip()
    messages = read_messages(lines("Parsing file /x.tla\n", message(1000, 1, f"TLC threw.\n: {inner}\nmore")))
    assert [(one.code, one.severity) for one in messages] == [(1000, 1), (5006, 1)]
    error = failure(lines(message(1000, 1, f"TLC threw.\n: {inner}")), 255, "M.tla", "m.log", "2g")
    assert error.failure is Failure.CONFIGURATION
    assert error.message.endswith("\nTLC found an error in the configuration file at line 2")


def test_a_crash_names_the_log_and_ends_with_the_last_words() -> None:
    error = failure(["Exception in thread main", "\tat a.b.C"], 1, "M.tla", "m.log", "2g")
    assert error.failure is Failure.CRASH
    assert error.message == (
        "TLC failed on M.tla with exit code 1; its log is m.log.\nException in thread main\n\tat a.b.C"
    )


def test_counterexamples_of_a_run_that_continues() -> None:
    trace = [
        message(2112, 1, "Action property P is violated."),
        message(2121, 1, "The behavior up to this point is:"),
        state(1, "Initial predicate", 0),
        state(2, "Go line 1, col 2 to line 3, col 4 of module M", 1),
    ]
    progress = message(2200, 0, "Progress(3) …")
    results = list(
        counterexamples(lines("<<1>>\n", *trace, "<<2>>\n", progress, *trace[:3], message(2199, 0, "")))
    )
    assert [printed for printed, _ in results] == ["<<1>>", "<<2>>"]
    assert [report.actions for _, report in results] == [["Init", "Go"], ["Init"]]


def test_a_simulated_behaviour() -> None:
    text = "---------------- MODULE /x/s_0_0 -----------------\nSTATE_1 == \n/\\ at = 0\n/\\ by = {}\n\n\n"
    text += "STATE_2 == \n/\\ at = 1\n/\\ by = {}\n\n\n=================================================\n"
    assert [one["at"] for one in read_behaviour(text, Reader())] == [0, 1]
