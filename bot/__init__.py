"""The digest service: what is collected, how it is judged, what a digest contains. Knows no chat platform."""

import os
import sys

__version__ = "0.1.0"

# Our matrices are small, and threads do our work side by side already. On busy cores OpenBLAS's own threads wait for one
# another by spinning: a text then takes five to seventeen times as long. It reads this once, when numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A thread that computes gives the interpreter to another one that waits for it after so many seconds. With Python's own
# five milliseconds two of them keep the event loop waiting for ten and more at each of its turns; docs/decisions/0105.
sys.setswitchinterval(0.001)
