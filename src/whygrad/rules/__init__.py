"""Rules: what each one knows, and the words in which it says so."""
