"""A stable group of the kind that every target has, for tests of `load`."""

from __future__ import annotations

from harness.kinds.consumer.stable import EPOCH as EPOCH
from harness.kinds.consumer.stable import OWNED as OWNED
from harness.kinds.consumer.stable import stable_group as stable_group
