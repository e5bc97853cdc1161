"""Firebase Genkit."""
