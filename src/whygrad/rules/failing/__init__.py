"""What the framework itself refuses, explained."""
