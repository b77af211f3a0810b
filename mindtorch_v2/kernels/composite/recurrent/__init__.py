"""Recurrent networks: their layers, their cells, and sequences that are packed."""
