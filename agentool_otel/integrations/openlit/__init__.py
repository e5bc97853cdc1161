"""OpenLIT."""
