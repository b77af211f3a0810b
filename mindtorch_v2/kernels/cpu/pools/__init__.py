"""Windows that go over images and volumes: their means, their largest values, and back again."""
