"""CloudWeGo's Eino with the callbacks of APMPlus."""
