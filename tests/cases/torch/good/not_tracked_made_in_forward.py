import torch
import torch.nn as nn

torch.manual_seed(6)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 32)
        self.head = nn.Linear(32, 2)

    def forward(self, obs):
        hidden = torch.tanh(self.body(obs))
        head = self.head
        return head(hidden)


def main():
    policy = Policy()
    opt = torch.optim.Adam(policy.body.parameters(), lr=1e-3)
    opt.add_param_group({"params": policy.head.parameters()})
    for _ in range(12):
        obs, act = torch.randn(16, 4), torch.randint(2, (16,))
        loss = nn.functional.cross_entropy(policy(obs), act)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"loss {loss.item():.3f}")


main()
