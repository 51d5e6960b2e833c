"""How well an item fits a topic, with reasons. Pure: items, a topic and the time in; scores out."""
