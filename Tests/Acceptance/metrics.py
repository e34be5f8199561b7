"""Reads figures with the parser of Prometheus' client and prints them as JSON: each sample's name and labels, and its
value.

    metrics.py openmetrics|prometheus < TEXT

Exit status 0 when the parser found nothing wrong with the text.
"""
import json
import sys

from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

families = {"openmetrics": openmetrics, "prometheus": parser}[sys.argv[1]].text_string_to_metric_families(
    sys.stdin.read())
samples = {}
for family in families:
    if not family.documentation:
        sys.exit(f"{family.name} has no help")
    for sample in family.samples:
        labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
        key = f"{sample.name}{{{labels}}}" if labels else sample.name
        if key in samples:
            sys.exit(f"{key} is there twice")
        samples[key] = sample.value
print(json.dumps(samples))
