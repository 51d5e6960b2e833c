"""Four parts per item: Problem, Method, Evidence, Why it matters."""
