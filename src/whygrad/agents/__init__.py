"""Reference agents: standalone scripts, one file each, that import nothing of whygrad. They are run by path."""
