"""Rig, in Rust."""
