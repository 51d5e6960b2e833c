"""Recorded answers of arXiv, Hugging Face and GitHub for the demo; README.md beside this says what they are."""
