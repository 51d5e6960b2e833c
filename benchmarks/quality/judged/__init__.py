"""Papers of four days, judged by reading for each of the sixteen topic packs; README.md says how."""
