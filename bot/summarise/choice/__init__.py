"""Chooses the sentences of a text that stand for the parts of its summary, by small models that ship with Broadsheet."""
