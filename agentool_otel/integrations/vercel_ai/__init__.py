"""Vercel's AI SDK."""
