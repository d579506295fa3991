"""Configurations that are written as their differences from others."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.configurations import LIKE, TABLE, Parts, different, main, parts, written
from harness.engines.tlc_config import read_config
from harness.errors import ConformError

ROOT = Path(__file__).parents[2]
BASE = """CONSTANTS
  Dialect <- Kafka42
  Budget = 2
SPECIFICATION Spec
INVARIANTS TypeOK EpochsInOrder
"""
DIFFERENT = """CONSTANTS
  Dialect <- Kafka43
  MaxEpoch = 3
SPECIFICATION Spec
VIEW view
INVARIANTS EpochsInOrder StateIsExact
"""
ROW = """Dialect = "<- Kafka43"
Budget = ""
MaxEpoch = "= 3"
VIEW = "view"
INVARIANTS = "-TypeOK +StateIsExact"
"""


def table(folder: Path, rows: str, base: str = BASE) -> Path:
    """A repository with a table and the configuration MCBase."""
    (folder / "spec").mkdir()
    (folder / "spec" / "MCBase.cfg").write_text(base)
    (folder / TABLE).write_text(rows)
    return folder


def test_committed_files_are_those_that_the_table_describes() -> None:
    made = dict(written(ROOT))
    assert len(made) > 100
    stale = [path.name for path, text in made.items() if path.read_text() != text]
    assert stale == [], "Write them again: python -m harness.configurations"


def test_a_configuration_has_its_changes_and_all_else_of_the_one_it_is_like(tmp_path: Path) -> None:
    root = table(tmp_path, f'[MCOther]\n{LIKE} = "MCBase"\n{ROW}')
    assert dict(written(root)) == {root / "spec" / "MCOther.cfg": DIFFERENT}


def test_a_change_of_a_configuration_reaches_those_that_are_like_it(tmp_path: Path) -> None:
    more = BASE.replace("EpochsInOrder", "EpochsInOrder TargetIsLegal")
    root = table(tmp_path, f'[MCOther]\n{LIKE} = "MCBase"\n{ROW}', more)
    (text,) = dict(written(root)).values()
    assert "INVARIANTS EpochsInOrder TargetIsLegal StateIsExact\n" in text


def test_an_empty_list_is_no_section() -> None:
    base = Parts({"Budget": "= 2"}, {"SPECIFICATION": "Spec", "INVARIANTS": "TypeOK"})
    assert different(base, {"INVARIANTS": "-TypeOK"}, "MCOther").sections == {"SPECIFICATION": "Spec"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("[MCOther", "is not TOML"),
        ('[MCOther]\nlike = "MCBas"\n', "MCOther must be like a configuration .* whole, not MCBas"),
        ('[MCOther]\nDialect = "<- Kafka43"\n', "MCOther must be like .* not None"),
        ('[MCBase]\nlike = "MCBase"\n', "MCBase must be like .* not MCBase"),
        ('[MCOther]\nlike = "MCBase"\nBudget = "= 2"\n', "MCOther, Budget: the text is that"),
        ('[MCOther]\nlike = "MCBase"\nBudget = 3\n', "MCOther: the line '  Budget 3' is neither"),
        ('[MCOther]\nlike = "MCBase"\nMaxEpoch = ""\n', "MCOther, MaxEpoch: the text is that"),
        ('[MCOther]\nlike = "MCBase"\nINVARIANTS = "+TypeOK"\n', "'\\+TypeOK' changes nothing"),
        ('[MCOther]\nlike = "MCBase"\nINVARIANTS = "-StateIsExact"\n', "'-StateIsExact' changes nothing"),
        ('[MCOther]\nlike = "MCBase"\nINVARIANTS = "TypeOK"\n', "'TypeOK' changes nothing. Write -Name"),
    ],
)  # fmt: skip
def test_a_row_that_is_wrong_is_named(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(ConformError, match=message):
        dict(written(table(tmp_path, rows)))


def test_the_command_writes_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = f'[MCOther]\n{LIKE} = "MCBase"\n{ROW}'
    monkeypatch.chdir(table(tmp_path, f'{good}[MCThird]\n{LIKE} = "MCNone"\n'))
    with pytest.raises(SystemExit, match="MCThird must be like"):
        main()
    assert not Path("spec/MCOther.cfg").exists()
    TABLE.write_text(good)
    main()
    assert Path("spec/MCOther.cfg").read_text() == DIFFERENT


def test_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    root = table(tmp_path, '[MCOther]\nlike = "MCBase"\n', BASE + "SYMETRY Members\n")
    with pytest.raises(ConformError, match=r"MCBase.cfg: the line 'SYMETRY Members' is neither"):
        dict(written(root))


def test_all_that_tlc_reads_of_a_configuration_is_kept(tmp_path: Path) -> None:
    for path in sorted((ROOT / "spec").glob("*.cfg")):
        copy = tmp_path / path.name
        copy.write_text(parts(path.read_text(), path.name).text())
        assert read_config(copy) == read_config(path), path.name
