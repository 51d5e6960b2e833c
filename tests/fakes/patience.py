"""How long a test waits for what should come: no verdict is by time, so that a busy machine is only slower."""

PATIENCE = 120.0  # seconds; who waits for longer waits in vain
