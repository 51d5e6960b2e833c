"""Vectors of texts: the transformer that is shipped, its small table, or an endpoint; bot.ports.vectors.Embedder."""
