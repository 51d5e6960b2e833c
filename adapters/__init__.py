"""Every way a person reaches the digest service. An adapter translates in, calls the core, translates out."""
