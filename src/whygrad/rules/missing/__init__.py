"""A parameter that should learn gets no gradient."""
