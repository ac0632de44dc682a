"""Who belongs to whom: parameters, modules, optimizers, lists of variables."""
