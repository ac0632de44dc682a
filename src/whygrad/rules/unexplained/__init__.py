"""What was measured and no other topic explains. It is asked last."""
