"""Digests by e-mail: rendered, sent, and what comes back."""
