# The wheel is built in one stage and installed in the next, which holds no compiler, no source and no root. What is
# installed is one of the files whose hashes are locked; `make pin-image` writes the digest of the image.
FROM python:3.13-slim-trixie AS build
WORKDIR /src
COPY requirements-build.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements-build.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY bot bot
COPY adapters adapters
COPY config config
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation -w /wheel .

FROM python:3.13-slim-trixie
RUN useradd --create-home --uid 10001 broadsheet && install -d -m 0700 -o broadsheet -g broadsheet /data
# With `--build-arg LOCK=requirements-mcp.lock` it answers assistants, too; with requirements-search.lock it searches by tantivy;
# with requirements-postgres.lock many processes work on one PostgreSQL database. Several go together, parted by spaces.
ARG LOCK=requirements.lock
COPY requirements.lock requirements-mcp.lock requirements-search.lock requirements-postgres.lock /tmp/
RUN for lock in $LOCK; do pip install --no-cache-dir --require-hashes -r "/tmp/$lock" || exit 1; done && rm /tmp/requirements*.lock
COPY --from=build /wheel /wheel
RUN pip install --no-cache-dir --no-deps --no-index /wheel/*.whl && rm -r /wheel
USER broadsheet
WORKDIR /data
# Settings that `init` writes are in the volume, too: /data/broadsheet/broadsheet.toml.
# A dozen threads ask for memory; with two of glibc's arenas instead of eight for each core, what one frees another takes.
ENV BROADSHEET_DATABASE=/data/broadsheet.sqlite3 XDG_CONFIG_HOME=/data PYTHONUNBUFFERED=1 MALLOC_ARENA_MAX=2
VOLUME /data
HEALTHCHECK --interval=60s --timeout=10s --start-period=30s CMD ["broadsheet", "doctor", "--health"]
ENTRYPOINT ["broadsheet"]
CMD ["run"]
