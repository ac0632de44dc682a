policy = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


EXAMPLE


for _ in range(8):
    actions = torch.tensor([act(one) for one in state])
    loss = F.cross_entropy(policy(state), actions)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
