"""What is done before the database is opened: whose its log is, and a restore that was interrupted."""
