"""Views: other geometries over the same storage, and what comes of them."""
