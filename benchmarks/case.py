"""One case in this process: `python -m benchmarks.case CASE ARGUMENTS` prints its figures as JSON."""

import json
import sys
from dataclasses import asdict

from benchmarks.cases import CASES

print(json.dumps(asdict(CASES[sys.argv[1]](**json.loads(sys.argv[2])))))
