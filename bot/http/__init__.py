"""The one HTTP client: its pace, its guard, and bodies read piece by piece."""
