"""surrogate-missing: a policy loss without a log-probability in it.

Reads the detail ``made_of`` (``rewards``, ``drawn actions``).
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="surrogate-missing",
    family="wrong",
    summary="the loss is made of rewards or drawn actions, with no log-probability in it",
    what="The loss is written as the quantity to be improved: the rewards of an episode, or a product with "
    "the "
    "actions that were drawn.",
    why="Neither rewards nor drawn actions are differentiable in the parameters of the policy. What carries "
    "the "
    "policy gradient is the log-probability of each action, weighed by the return.",
    bad="""\
dist = Categorical(logits=policy(state))
action = dist.sample()
loss = -(action.float() * returns).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()""",
    good="""\
dist = Categorical(logits=policy(state))
action = dist.sample()
loss = -(dist.log_prob(action) * returns).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()""",
    use_instead="`-(dist.log_prob(action) * returns).mean()`, the score-function surrogate.",
    avoid="`loss.requires_grad = True`: the error goes, the gradient does not come back.",
    site="the loss",
    bad_tensorflow="""\
logits = policy(state)
action = tf.squeeze(tf.random.categorical(logits, 1), 1)
loss = -tf.reduce_mean(tf.gather(rewards, action))""",
    good_tensorflow="""\
logits = policy(state)
action = tf.squeeze(tf.random.categorical(logits, 1), 1)
neg_log_prob = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
loss = tf.reduce_mean(neg_log_prob * tf.gather(rewards, action))""",
)


def phrase(cause: Cause) -> Finding:
    """Put a policy loss without a log-probability into words."""
    who, made_of = words.who(cause), cause.details.get("made_of", "rewards or drawn actions")
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: the loss is made of {made_of}, without a "
        f"log-probability",
        why=f"{made_of[0].upper()}{made_of[1:]} are not differentiable in the policy; the log-probability "
        f"of the "
        "actions, weighed by the return, is what carries its gradient.",
        fix="write the loss as `-tf.reduce_mean(log_prob * returns)`, with `log_prob = "
        "-tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)`"
        if words.on_tensorflow(cause)
        else "write the loss as `-(dist.log_prob(action) * returns).mean()`",
        avoid=words.no_filtering(cause)
        if words.on_tensorflow(cause)
        else "`loss.requires_grad = True`: the error goes, the gradient does not come back",
    )


RULE = Rule(PAGE, phrase)
