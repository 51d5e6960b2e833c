"""Many processes on one PostgreSQL database, as they are run: killed, cut off, and left without their server."""
