import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)
D, T = 16, 5


class Embedder(object):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.rtg = nn.Linear(1, D)
        self.state = nn.Linear(n_obs, D)
        self.action = nn.Embedding(n_act, D)

    def __call__(self, rtg, obs, act):
        tokens = torch.stack([self.rtg(rtg), self.state(obs), self.action(act)], dim=2)
        return tokens.flatten(1, 2)


class DecisionTransformer(nn.Module):
    def __init__(self, n_obs=4, n_act=3):
        super().__init__()
        self.embed = Embedder(n_obs, n_act)
        self.pos = nn.Parameter(torch.zeros(1, 3 * T, D))
        layer = nn.TransformerEncoderLayer(D, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, num_layers=1)
        self.head = nn.Linear(D, n_act)

    def forward(self, rtg, obs, act):
        x = self.embed(rtg, obs, act) + self.pos
        mask = nn.Transformer.generate_square_subsequent_mask(3 * T)
        h = self.body(x, mask=mask)
        return self.head(h[:, 1::3])


dt = DecisionTransformer()
opt = torch.optim.AdamW(dt.parameters(), lr=3e-3)
for step in range(25):
    obs, rtg = torch.randn(16, T, 4), torch.rand(16, T, 1)
    act = obs[..., :3].argmax(-1)
    logits = dt(rtg, obs, act)
    loss = F.cross_entropy(logits.flatten(0, 1), act.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 8 == 0:
        print("step", step, "loss", round(loss.item(), 4))
