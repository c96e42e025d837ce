"""Metrics with CloudWatch's names, kept in the process: consumed units, latencies, refusals.

Requests report to it; it asks nobody. It sends nothing: a snapshot is read, or scraped by Prometheus.
"""

from singletable.metrics.failures import Failure, failure_of
from singletable.metrics.latency import Latency
from singletable.metrics.prometheus import PROMETHEUS_CONTENT_TYPE, to_prometheus
from singletable.metrics.recorder import Metrics
from singletable.metrics.snapshot import Dimensions, MetricsSnapshot, ReturnedItems

__all__ = [
    "PROMETHEUS_CONTENT_TYPE",
    "Dimensions",
    "Failure",
    "Latency",
    "Metrics",
    "MetricsSnapshot",
    "ReturnedItems",
    "failure_of",
    "to_prometheus",
]
