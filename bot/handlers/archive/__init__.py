"""The archive: what was posted, read again by who may know of it, and how one gets there."""
