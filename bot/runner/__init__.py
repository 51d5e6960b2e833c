"""What calls the verbs at their times."""
