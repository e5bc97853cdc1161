"""JetBrains Koog."""
