"""What was found, shown: pure functions of a finished run."""
