"""TensorFlow.js layers-models: checked before anything is allocated, built in Keras or torch, written."""
