"""Templates of TLA+ modules and configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def tla_templates(package: str, filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """Return the templates beside the modules of a package. A name without a value is an error."""
    environment = Environment(loader=PackageLoader(package, "."), undefined=StrictUndefined)
    environment.filters |= filters
    return environment
