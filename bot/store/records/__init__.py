"""Values as the text that stores keep, and back."""
