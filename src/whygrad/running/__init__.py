"""Be python exactly, watch, and always come back with a Run."""
