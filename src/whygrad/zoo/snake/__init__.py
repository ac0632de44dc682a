"""Watching a trained snake: games as plain frames, shown in a terminal, a GIF or an HTML page."""
