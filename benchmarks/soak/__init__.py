"""Whether digests arrive once each, whatever happens: `python -m benchmarks.soak`, or `make soak`."""
