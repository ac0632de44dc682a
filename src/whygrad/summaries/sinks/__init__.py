"""Where summaries go while a script trains."""
