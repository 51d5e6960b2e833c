"""The round of collecting: fetch, normalise, dedupe, store."""
