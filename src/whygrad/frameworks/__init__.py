"""One package per framework; only there is a framework imported."""
