"""What a person may ask, declared once: the classes, the table, the parser and its inverse."""
