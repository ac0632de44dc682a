"""From a finding to a patch of the user's source that has proven itself."""
