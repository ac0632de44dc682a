"""The processes that a watched program starts: each is watched, and all of them are one run."""
