"""Images, sounds, videos and PDFs in content: recognised once, and kept apart from the text."""
