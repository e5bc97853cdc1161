"""What readers of servers of traces are made of, over one HTTP client."""
