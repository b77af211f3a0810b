"""Images of another size, with a border, or seen at the places of a grid."""
