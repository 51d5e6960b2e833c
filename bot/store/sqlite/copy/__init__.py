"""A copy of the items and their vectors in a file of this process's own, in which it searches."""
