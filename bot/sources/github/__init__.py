"""GitHub: repositories that are searched for and watched, their READMEs and releases."""
