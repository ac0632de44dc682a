"""The verbs and a line for each: a list of its own, so that help and a mistyped verb import none of them."""

from __future__ import annotations

#: Each has a file of its name beside this one, with a ``main``.
VERBS = {
    "run": "run a script to its end and say why parameters get no gradient",
    "check": "run a script only until every optimizer has been judged; exit code 1 when something is wrong",
    "fix": "change a script so that its findings are gone, and show the change when it has proven itself",
    "judge": "judge the evidence of a run again, with the rules of this version; needs no framework",
    "combine": "make one report of what many processes have left, copied together from several machines",
    "report": "make one HTML file of a run, to look at and to send around",
    "live": "serve the report of a run that goes on, on this machine only",
    "compare": "put two runs side by side: which variable's gradient differs first",
    "runs": "list the runs below runs/: when, how they ended, what was found",
    "explain": "list the rules, or explain one: what, why, a bad and a good example",
    "convert": "turn a TensorFlow.js model into Keras or torch, or a Keras model into TensorFlow.js",
    "parity": "compare loss and gradients of two implementations of a network, and name the likely mistake",
    "snake": "watch a trained snake play: in the terminal, as a GIF or as an HTML page",
    "train": "list the reference agents, or train one: dqn, ppo, ddpg, ...",
    "probe": "run an agent through tiny environments and say which part of it is broken",
    "summarize": "read the event files of any tool and say what their gradients and losses show",
}
