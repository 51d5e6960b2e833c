"""Where items come from: one file per source, each a way to ask and a way to read the answer."""
