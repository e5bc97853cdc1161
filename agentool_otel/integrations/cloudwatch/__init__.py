"""Amazon CloudWatch."""
