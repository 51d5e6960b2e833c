"""The rows of the scoreboard on one process, R1 to R21, and the two gates; R3 is in benchmarks.soak.many."""
