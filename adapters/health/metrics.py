"""What was measured, as Prometheus reads it (prometheus.io/docs/instrumenting/exposition_formats)."""

import platform
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from bot import __version__
from bot.service.health import Metrics, SharedMetrics

# What is counted, by the words of bot.service.measurements. All are told from the beginning, so that the first one is
# seen to happen.
_DIGESTS = ("made", "empty", "skipped", "late")
_DELIVERIES = ("posted", "put_back", "ambiguous", "failed", "expired")


def exposition(metrics: Metrics) -> bytes:
    """Return the text that answers /metrics; nothing of a process-wide registry is in it."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Exposed(metrics))
    return generate_latest(registry)


class _Exposed(Collector):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        metrics = self._metrics
        yield InfoMetricFamily(
            "broadsheet_build",
            "The version that runs.",
            value={"version": __version__, "python": platform.python_version()},
        )
        yield _gauge("broadsheet_uptime_seconds", "Since the service began.", metrics.uptime)
        yield _gauge("broadsheet_last_tick_age_seconds", "Since what is due was last looked for.", metrics.tick_age)
        yield _gauge(
            "broadsheet_loop_lag_seconds", "The longest that the event loop was late in the last minute.", metrics.lag
        )
        yield CounterMetricFamily(
            "broadsheet_loop_blocked", "How often the event loop was held up for a second or more.", value=metrics.blocked
        )
        yield from _jobs(metrics)
        yield from _ledger(metrics)
        yield from _sources(metrics)
        up = GaugeMetricFamily(
            "broadsheet_platform_up",
            "Whether people are heard there; of e-mail, whether mails can be sent.",
            labels=["platform"],
        )
        for name, well in metrics.platforms.items():
            up.add_metric([name], float(well))
        yield up
        unreadable = CounterMetricFamily(
            "broadsheet_unreadable_events", "Events of the platform that could not be read.", labels=["platform"]
        )
        for name, count in metrics.unreadable.items():
            unreadable.add_metric([name], count)
        yield unreadable
        untold = CounterMetricFamily("broadsheet_untold_answers", "Answers that reached nobody.", labels=["platform"])
        for name, count in metrics.untold.items():
            untold.add_metric([name], count)
        yield untold
        vectors = GaugeMetricFamily("broadsheet_items_by_vector", "Items, by the vector that they have.", labels=["vector"])
        for name, count in metrics.vectors.items():
            vectors.add_metric([name], count)
        yield vectors
        if metrics.shared is not None:
            yield from _lanes(metrics.shared)
            yield from _among_others(metrics.shared)


def _lanes(shared: SharedMetrics) -> Iterator[Metric]:
    waiting = GaugeMetricFamily("broadsheet_lane_waiting", "What waits in a lane.", labels=["verb", "lane"])
    oldest = GaugeMetricFamily(
        "broadsheet_lane_oldest_seconds", "Since what waits longest in a lane was due.", labels=["verb", "lane"]
    )
    for each in shared.lanes:
        waiting.add_metric([each.verb, each.lane], each.waiting)
        oldest.add_metric([each.verb, each.lane], each.age)
    rescues = CounterMetricFamily(
        "broadsheet_lane_rescues", "What this process's sweeper found that nobody was woken for.", labels=["kind"]
    )
    for kind, count in shared.rescues.items():
        rescues.add_metric([kind], count)
    yield from (waiting, oldest, rescues)


def _among_others(shared: SharedMetrics) -> Iterator[Metric]:
    leases = GaugeMetricFamily("broadsheet_leases_held", "Leases that this process holds.", labels=["name"])
    for name in shared.leases:
        leases.add_metric([name], 1)
    rests = GaugeMetricFamily("broadsheet_rests", "Places that a platform asked to be left alone.", labels=["place"])
    for place in shared.rests:
        rests.add_metric([place], 1)
    waits = CounterMetricFamily(
        "broadsheet_budget_wait_seconds", "For how long calls waited for their turn among all.", labels=["platform"]
    )
    for name, seconds in shared.waits.items():
        waits.add_metric([name], seconds)
    beats = GaugeMetricFamily(
        "broadsheet_process_beat_age_seconds",
        "Since a process last showed that it lives.",
        labels=["process", "roles", "version"],
    )
    for each in shared.processes:
        beats.add_metric([each.id, each.roles, each.version], each.age)
    yield from (leases, rests, waits, beats)
    changes, span = shared.behind or (None, None)
    yield _gauge("broadsheet_search_copy_behind_changes", "Changes that the search copy lacks.", changes)
    yield _gauge("broadsheet_search_copy_behind_seconds", "Since the search copy had all changes.", span)


def _jobs(metrics: Metrics) -> Iterator[Metric]:
    runs = CounterMetricFamily("broadsheet_job_runs", "How often each job ran.", labels=["name"])
    failures = CounterMetricFamily("broadsheet_job_failures", "How often each job failed.", labels=["name"])
    for name, (ran, failed) in metrics.jobs.items():
        runs.add_metric([name], ran)
        failures.add_metric([name], failed)
    yield runs
    yield failures


def _ledger(metrics: Metrics) -> Iterator[Metric]:
    digests = CounterMetricFamily("broadsheet_digests", "Due digests, by what became of them.", labels=["outcome"])
    for outcome in _DIGESTS:
        digests.add_metric([outcome], metrics.counts.get(outcome, 0))
    yield digests
    posts = CounterMetricFamily("broadsheet_posts", "Attempts to post, by what was recorded of them.", labels=["outcome"])
    for outcome in _DELIVERIES:
        posts.add_metric([outcome], metrics.counts.get(outcome, 0))
    yield posts
    yield _gauge("broadsheet_database_up", "Whether the database answered.", float(metrics.ledger is not None))
    ledger = dict(metrics.ledger or {})
    yield _gauge("broadsheet_due_digests", "Digests that are due and not made yet.", ledger.pop("due", None))
    states = GaugeMetricFamily("broadsheet_deliveries", "Deliveries in the ledger, by state.", labels=["state"])
    for state, count in ledger.items():
        states.add_metric([state], count)
    yield states


def _sources(metrics: Metrics) -> Iterator[Metric]:
    def gauge(name: str, text: str) -> GaugeMetricFamily:
        return GaugeMetricFamily(f"broadsheet_source_{name}", text, labels=["source"])

    up = gauge("up", "Whether the source answered when it was last asked.")
    age = gauge("answer_age_seconds", "Since the source last answered.")
    items = gauge("items", "Items read in the last collection that answered.")
    failures = gauge("failures", "Failed collections in a row.")
    errors = CounterMetricFamily("broadsheet_source_errors", "Failed collections.", labels=["source"])
    for source in metrics.sources:
        names = [source.name]
        up.add_metric(names, float(source.well))
        if source.age is not None:
            age.add_metric(names, source.age)
        items.add_metric(names, source.items)
        failures.add_metric(names, source.failures)
        errors.add_metric(names, source.errors)
    yield from (up, age, items, failures, errors)


def _gauge(name: str, text: str, value: float | None) -> GaugeMetricFamily:
    """Return a gauge of one value; of what never happened there is none."""
    family = GaugeMetricFamily(name, text)
    if value is not None:
        family.add_metric([], value)
    return family
