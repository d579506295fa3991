"""The archive of TLC's classes (`harness.class_archive`), with which a short run of TLC takes a tenth less
time.

The kit starts TLC some hundred times in a run of `make`, mostly for a second each.
"""

from __future__ import annotations

import tempfile
import threading
from functools import lru_cache
from pathlib import Path
from typing import Final

from harness.class_archive import Work, archive_options
from harness.files import cache_folder

MODULE: Final = """---- MODULE Archive ----
EXTENDS Integers, FiniteSets, Sequences, TLC
CONSTANTS Limit, Names
VARIABLES count, seen, owners
vars == <<count, seen, owners>>
Free == {name \\in Names: owners[name] = 0}
Init == count = 0 /\\ seen = <<>> /\\ owners = [name \\in Names |-> 0]
Count == /\\ count < Limit
         /\\ count' = count + 1
         /\\ seen' = Append(seen, [number |-> count, names |-> SUBSET Names])
         /\\ UNCHANGED owners
Own(name) == /\\ owners' = [owners EXCEPT ![name] = IF count = 0 THEN 1 ELSE Cardinality(Free)]
             /\\ UNCHANGED <<count, seen>>
Next == Count \\/ \\E name \\in Free: Own(name)
Spec == Init /\\ [][Next]_vars /\\ WF_vars(Count)
Holds == LET last == CHOOSE name \\in Names: TRUE IN Len(seen) = count /\\ owners[last] >= 0
Ends == <>(count = Limit)
====
"""
"""A small model with the features of most models: values of each kind, an invariant, fairness and a
property."""
CONFIG: Final = """SPECIFICATION Spec
INVARIANT Holds
PROPERTY Ends
CHECK_DEADLOCK FALSE
CONSTANTS Limit = 2
  Names = {"a", "b"}
"""
_alone = threading.Lock()


def archive_of_tlc(java: Path, jar: Path) -> list[str]:
    """The options with which `java` runs TLC's jar with an archive of its classes; [] where no archive can be
    made.

    The first run on a machine makes the archive, in the folder of caches.
    """
    with _alone:  # models that run side by side begin at the same time
        return list(_options(java, jar, cache_folder()))


@lru_cache(maxsize=4)
def _options(java: Path, jar: Path, folder: Path) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory(prefix="conform-") as place:
        (Path(place) / "Archive.tla").write_text(MODULE, encoding="utf-8")
        (Path(place) / "Archive.cfg").write_text(CONFIG, encoding="utf-8")
        arguments = ("-tool", "-workers", "1", "-dump", "dot,actionlabels", "graph", "Archive")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:  # without an archive TLC only starts more slowly
            return ()
        work = Work(arguments, folder=Path(place))
        return tuple(archive_options(java, ("-cp", str(jar), "tlc2.TLC"), folder, work))
