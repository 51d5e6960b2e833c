"""What a digest contains, and when it is due."""
