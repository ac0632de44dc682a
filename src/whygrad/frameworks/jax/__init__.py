"""JAX: the only package that imports it."""
