# The wheel is built in one stage and installed in the next, which holds no compiler, no source and no root.
FROM python:3.13-slim-trixie AS build
WORKDIR /src
RUN pip install --no-cache-dir hatchling
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY bot bot
COPY adapters adapters
COPY config config
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation -w /wheel .

FROM python:3.13-slim-trixie
RUN useradd --create-home --uid 10001 broadsheet && install -d -o broadsheet -g broadsheet /data
COPY constraints.txt /tmp/
COPY --from=build /wheel /wheel
RUN pip install --no-cache-dir -c /tmp/constraints.txt /wheel/*.whl && rm -r /wheel /tmp/constraints.txt
USER broadsheet
WORKDIR /data
ENV BROADSHEET_DATABASE=/data/broadsheet.sqlite3 PYTHONUNBUFFERED=1
VOLUME /data
HEALTHCHECK --interval=60s --timeout=10s --start-period=30s CMD ["broadsheet", "doctor", "--health"]
ENTRYPOINT ["broadsheet"]
CMD ["run"]
