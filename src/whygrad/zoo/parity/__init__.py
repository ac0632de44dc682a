"""Do two implementations of a network have the same gradients, and if not, which known mistake is it?"""
