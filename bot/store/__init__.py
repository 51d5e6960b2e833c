"""What is remembered. `rules` are what every store decides alike, `records` the text they keep; `sqlite` is the store."""
