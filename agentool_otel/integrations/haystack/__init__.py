"""deepset's Haystack."""
