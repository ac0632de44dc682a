"""Do two implementations of a network have the same loss and gradients, and if not, which known mistake is it?"""
