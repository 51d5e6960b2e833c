"""What is known of the server by itself."""
