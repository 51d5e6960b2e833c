"""Where items come from: a folder per source, and the registry that lists them."""
