"""Any value to JSON text, without calling anything of the user's."""
