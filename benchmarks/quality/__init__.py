"""How good the summaries, the search and the ranking are, on public judgements, beside baselines of the same run.

`python -m benchmarks.quality --data FOLDER` evaluates whatever known file stands in the folder; docs/benchmarks.md says what
each figure is.
"""
