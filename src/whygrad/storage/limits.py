"""How much evidence may be. More is neither written nor read: no file fills a machine."""

FILE = 16 << 20  # bytes on disk; an ordinary run has some ten thousand
UNPACKED = 32 << 20  # bytes
ROWS = 500_000  # of a table: ten bytes become a thousand in memory
MEMBERS = 4_000_000  # of all flows together: two bytes become a hundred in memory
SOURCE = 4 << 20  # characters of source text, the user's before any library's; the rest is left out
