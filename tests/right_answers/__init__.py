"""What real traces hold, and how much of it a reading has: for tests and for the recall table."""
