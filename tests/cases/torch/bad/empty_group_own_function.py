"""GRPO whose log-probabilities come out of an own function, which works in a buffer."""

import torch
import torch.nn as nn

torch.manual_seed(3)
PROMPTS, GROUP, PROMPT, ANSWER, VOCABULARY = 4, 6, 3, 5, 12


class LogProbs(torch.autograd.Function):
    """Of the tokens that were drawn; the logits are never all there at once."""

    @staticmethod
    def forward(ctx, hidden, weight, tokens):
        buffer = torch.empty(len(hidden), len(weight))
        torch.mm(hidden, weight.t(), out=buffer)
        norm = buffer.exp().sum(1).log()
        ctx.save_for_backward(hidden, weight, tokens, norm)
        return buffer.gather(1, tokens[:, None]).squeeze(1) - norm

    @staticmethod
    def backward(ctx, gradient):
        hidden, weight, tokens, norm = ctx.saved_tensors
        probs = (hidden @ weight.t() - norm[:, None]).exp()
        picked = nn.functional.one_hot(tokens, len(weight)) - probs
        scaled = picked * gradient[:, None]
        return scaled @ weight, scaled.t() @ hidden, None


embedding = nn.Embedding(VOCABULARY, 24)
body = nn.GRU(24, 32, batch_first=True)
head = nn.Linear(32, VOCABULARY, bias=False)
policy = nn.ModuleList([embedding, body, head])
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)


@torch.no_grad()
def generate(prompts):
    tokens = prompts.repeat_interleave(GROUP, dim=0)
    for _ in range(ANSWER):
        probs = head(body(embedding(tokens))[0][:, -1]).softmax(-1)
        tokens = torch.cat([tokens, torch.multinomial(probs, 1)], dim=1)
    return tokens


def token_log_probs(tokens):
    hidden = body(embedding(tokens[:, :-1]))[0][:, PROMPT - 1 :]
    answers = tokens[:, PROMPT:]
    return LogProbs.apply(hidden.reshape(-1, 32), head.weight, answers.reshape(-1)).view(answers.shape)


for step in range(30):
    tokens = generate(torch.randint(1, VOCABULARY, (PROMPTS, PROMPT)))
    rewards = (tokens[:, :PROMPT] % 2 == 0).float().mean(1)
    mean = rewards.view(-1, GROUP).nanmean(dim=1).repeat_interleave(GROUP)
    spread = rewards.view(-1, GROUP).std(dim=1).repeat_interleave(GROUP)
    advantages = rewards - mean
    advantages = torch.nan_to_num(advantages / (spread + 1e-4))
    order = torch.randperm(len(tokens))
    tokens, advantages = tokens[order], advantages[order]

    logp = token_log_probs(tokens)
    ratio = torch.exp(logp - logp.detach())
    one, other = ratio * advantages[:, None], ratio.clamp(0.8, 1.2) * advantages[:, None]
    loss = -torch.min(one, other).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
