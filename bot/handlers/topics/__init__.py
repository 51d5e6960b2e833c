"""Topics: shown, made, changed, filtered, and what they learned."""
