"""The sockets of the core: what sources, stores, embedders and messengers must offer. Nothing here may block."""
