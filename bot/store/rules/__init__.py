"""What every store decides alike: pure, and held against both by the contract tests."""
