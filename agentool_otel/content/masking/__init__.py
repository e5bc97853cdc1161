"""Credentials in texts: how they are recognised and taken out."""
