"""TensorFlow.js layers-models: read, checked before anything is allocated, built in Keras or torch, written."""
