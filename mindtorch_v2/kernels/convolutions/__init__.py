"""Convolutions: their settings, their backends, and their derivatives."""
