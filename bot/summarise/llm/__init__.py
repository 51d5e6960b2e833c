"""Summaries by a language model, held against the text that they are about."""
