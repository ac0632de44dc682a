"""What a framework calls the things that every rule speaks of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """The words of one framework. Sentences are written once, in the rules, with these words in them.

    Words that are code stand here without backticks. Functions take source text, or names as the user
    writes them, and give source text, or a part of a sentence.
    """

    framework: str  # as it is imported: torch
    title: str  # as people say it: PyTorch

    # What a loss is made of
    drawn: str  # how to draw an action that carries no gradient, after "draw with"
    surrogate: str  # the loss of a policy gradient, and where its log-probability comes from, in backticks
    squeezed: Callable[[str], str]  # a column of shape (N, 1) -> the code that makes it (N,)

    # What happens in an update
    differentiate: str  # the call that computes gradients, as one speaks of it: backward
    ask: str  # the call that hands gradients over instead of storing them: autograd.grad
    step: str  # the call that applies them: step()
    rate: str  # the keyword of the learning rate
    rate_of: Callable[[str], str]  # optimizer -> the code that reads its learning rate
    applied: Callable[[str, str, str], str]  # (optimizer, gradients, of what) -> how those that `ask` gave
    #                                          reach the optimizer: what to add after it
    clip_by_norm: str  # the call that clips and tells the norm
    apply_clipped: str  # how to see to it that clipped gradients are the ones that a step uses
    parameters: str  # the noun: parameters, variables
    eagerly: str  # how to have compiled code run operation by operation, as an order to the reader
    forward: str  # the method in which a network computes

    # Modes of a network with dropout or batch normalisation
    modes_switched: bool  # by a call that lasts; else each forward pass is told
    to_train: Callable[[str], str]  # network -> how to have it in train mode, as an order to the reader
    to_evaluate: Callable[[str], str]  # the same for an action, or a target

    # Cutting and letting through
    stop: str  # the call that cuts: .detach()
    stopped: Callable[[str], str]  # x -> x.detach()
    let_through: Callable[[str, str], str | None]  # (line, cutting call) -> the line without it
    pretended: Callable[[str], tuple[str, str]]  # the line that made a leaf of a value without history ->
    #                                              what does so, in few words, and how to get rid of it
    constant: str  # how to compute something without gradients, as an order to the reader
    hiding: str  # the popular fix that hides a missing gradient, and what it really does
    hiding_unused: str  # the same where the loss does not depend on the parameter

    # Operations
    namespace: str  # where its functions are, as people import it: torch
    functions: Mapping[str, str]  # numpy's name -> its own, where calls look the same
    spoken: Callable[[str, str], str]  # (operation, line) -> the operation as the line writes it
    titled: Callable[[str, str], str]  # (operation as spoken, line) -> the same in a title: argmax()
    maker: Callable[[str, str], str]  # (operation, line) -> the call that made a tensor of plain numbers
    rewrapped: str  # the popular wrong way to make numbers a tensor again, and what it really does
    to_float: str  # a cast to floating point
    custom_gradient: str  # how to give an operation a gradient of its own
    draws_with_gradient: str  # the method of a distribution that does; empty where sample() does, if it can
    relaxed: str  # how a discrete choice goes into a network and lets gradient through, after "use"
    axis: str  # the keyword for a dimension: dim
    picked: str  # how to take the Q-value of an action, and the best one, in backticks

    # Whole networks
    frozen: str  # requires_grad = False
    thawed: Callable[[str], str]  # actor -> actor.requires_grad_(True)
    listed: Callable[[str], str]  # actor -> actor.parameters()
    copied: Callable[[str, str], str]  # (target, online) -> the line that copies the weights
    cloned: Callable[[str], str]  # net -> how to make a network of its own out of it
    shallow: str  # the popular wrong way to do that, and what it really does
    thawed_before: str  # when thawed() must run, to have an effect
    left_out: Callable[[str, str], str]  # (it, optimizer) -> how not to train it, as an order to the reader
    extended: Callable[
        [str, Sequence[str], Sequence[str]], str
    ]  # (list, networks, single ones) -> longer list
    unmade: str  # why the list of a network's parameters can be empty, where nothing is frozen or hidden
    made_first: str  # what to do about it, as an order to the reader
    unlisted: Mapping[str, str]  # how a part is held -> why its module does not list it
    registered: Callable[[str, str], str]  # (how it is held, line) -> what to write so that it is listed
    saving: str  # the calls that save or move all that a network lists, in backticks
    remade: Callable[[str, str], str]  # (optimizer, network) -> how to let it step new parameters
    reused: str  # the popular wrong way to do that, and what it really does

    def function(self, name: str) -> str:
        """A function that most frameworks have, with its module: ``torch.sigmoid``."""
        return self.functions.get(name, f"{self.namespace}.{name}")
