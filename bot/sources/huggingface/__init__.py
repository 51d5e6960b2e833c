"""Hugging Face Daily Papers."""
