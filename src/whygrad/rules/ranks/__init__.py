"""What differs between the processes of a run and should not."""
