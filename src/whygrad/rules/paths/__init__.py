"""Where the way from a parameter to the loss is cut, or was never there."""
