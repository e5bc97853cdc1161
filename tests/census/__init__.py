"""A census of the attribute names in the newest releases of the packages whose spans are read."""
