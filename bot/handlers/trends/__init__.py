"""What trends, and how a topic went over the months."""
