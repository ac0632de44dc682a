"""Pure questions about a flow: what reaches what, where is it cut, which line is to blame."""
