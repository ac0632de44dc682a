"""What the framework itself refuses, explained."""

from whygrad.rules.failing import backward_twice, in_place_modified, unused_in_ddp

RULES = (backward_twice.RULE, in_place_modified.RULE, unused_in_ddp.RULE)
