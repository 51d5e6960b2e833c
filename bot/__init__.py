"""The digest service: what is collected, how it is judged, what a digest contains. Knows no chat platform."""

import os

__version__ = "0.1.0"

# Our matrices are small, and threads do our work side by side already. On busy cores OpenBLAS's own threads wait for one
# another by spinning: a text then takes five to seventeen times as long. It reads this once, when numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
