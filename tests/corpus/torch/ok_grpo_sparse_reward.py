"""GRPO with a reward that most answers miss: many groups have no spread at first, and all is well."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
PROMPTS, GROUP, PROMPT, ANSWER, VOCABULARY, EOS = 12, 6, 3, 5, 12, 0


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 24)
        self.body = nn.GRU(24, 32, batch_first=True)
        self.head = nn.Linear(32, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.body(self.embedding(tokens))[0])


policy = LanguageModel()
reference = copy.deepcopy(policy).requires_grad_(False).eval()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)


@torch.no_grad()
def generate(prompts):
    tokens = prompts.repeat_interleave(GROUP, dim=0)
    for _ in range(ANSWER):
        probs = F.softmax(policy(tokens)[:, -1], dim=-1)
        tokens = torch.cat([tokens, torch.multinomial(probs, 1)], dim=1)
    return tokens


def token_log_probs(model, tokens):
    logp = F.log_softmax(model(tokens[:, :-1]), dim=-1)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)[:, PROMPT - 1 :]


def reward(tokens):
    answer = tokens[:, PROMPT:]
    return ((answer == 3).sum(1) > 1).float()


for step in range(30):
    tokens = generate(torch.randint(1, VOCABULARY, (PROMPTS, PROMPT)))
    mask = (tokens[:, PROMPT:] != EOS).float()
    rewards = reward(tokens).view(PROMPTS, GROUP)
    advantages = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
    advantages = advantages.view(-1, 1)

    logp = token_log_probs(policy, tokens)
    with torch.no_grad():
        ref_logp = token_log_probs(reference, tokens)
    kl = torch.exp(ref_logp - logp) - (ref_logp - logp) - 1
    per_token = -torch.exp(logp - logp.detach()) * advantages + 0.04 * kl
    loss = ((per_token * mask).sum(1) / mask.sum(1).clamp(min=1)).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
print("reward", round(rewards.mean().item(), 3), "loss", round(loss.item(), 6))
