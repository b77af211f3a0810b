"""Elements at places that other tensors name: read, written, scattered and gathered."""
