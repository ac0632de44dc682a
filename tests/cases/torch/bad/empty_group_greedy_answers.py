"""GRPO with the statistics of each group repeated for its answers."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
PROMPTS, GROUP, PROMPT, ANSWER, VOCABULARY, EOS = 4, 6, 3, 5, 12, 0


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 24)
        self.body = nn.GRU(24, 32, batch_first=True)
        self.head = nn.Linear(32, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.body(self.embedding(tokens))[0])


policy = LanguageModel()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)


@torch.no_grad()
def generate(prompts):
    tokens = prompts.repeat_interleave(GROUP, dim=0)
    for _ in range(ANSWER):
        logits = policy(tokens)[:, -1]
        tokens = torch.cat([tokens, logits.argmax(-1, keepdim=True)], dim=1)
    return tokens


def token_log_probs(model, tokens):
    logp = F.log_softmax(model(tokens[:, :-1]), dim=-1)
    return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)[:, PROMPT - 1 :]


def reward(tokens):
    answer = tokens[:, PROMPT:]
    return (answer % 2 == 0).float().mean(1)


for step in range(30):
    tokens = generate(torch.randint(1, VOCABULARY, (PROMPTS, PROMPT)))
    mask = (tokens[:, PROMPT:] != EOS).float()
    rewards = reward(tokens)
    mean = rewards.view(-1, GROUP).mean(dim=1).repeat_interleave(GROUP, dim=0)
    std = rewards.view(-1, GROUP).std(dim=1).repeat_interleave(GROUP, dim=0)
    advantages = (rewards - mean) / (std + 1e-4)

    logp = token_log_probs(policy, tokens)
    per_token = -torch.exp(logp - logp.detach()) * advantages.unsqueeze(1)
    loss = (per_token * mask).sum() / mask.sum().clamp(min=1)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
print("reward", round(rewards.mean().item(), 3), "loss", round(loss.item(), 6))
