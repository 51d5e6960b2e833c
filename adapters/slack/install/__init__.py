"""Installing the app: its manifest, OAuth, and the tokens that come of it."""
