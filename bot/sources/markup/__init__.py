"""Text that somebody else wrote made readable: HTML, TeX, the opening of a README."""
