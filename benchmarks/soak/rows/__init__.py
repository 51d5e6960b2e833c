"""The rows of the scoreboard, R1 to R21 but R3, which needs PostgreSQL; and the two gates."""
