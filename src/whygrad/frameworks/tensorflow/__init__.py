"""Watches TensorFlow, Keras and TF-Agents."""
