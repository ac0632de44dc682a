"""What is summarized of each update, when, and what is kept of it. No framework and no file is known here."""
