import torch
import torch.nn as nn

torch.manual_seed(7)


class Agent:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=1e-3)

    def act(self, obs):
        self.policy.train()
        with torch.no_grad():
            return self.policy(obs).argmax().item()

    def update(self, obs, act, ret):
        self.policy.train()
        log_prob = torch.log_softmax(self.policy(obs), dim=1)[torch.arange(len(act)), act]
        loss = -(log_prob * ret).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


def main():
    agent = Agent()
    for _ in range(15):
        obs = torch.randn(16, 4)
        act = torch.tensor([agent.act(o) for o in obs])
        agent.update(obs, act, (act == (obs[:, 0] > 0)).float() - 0.5)
    print("done")


main()
