"""The digest service: what is collected, how it is judged, what a digest contains. Knows no chat platform."""

__version__ = "0.1.0"
