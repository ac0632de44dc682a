policy, critic, returns = Actor(), nn.Linear(3, 1), torch.randn(16)
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()])
for _ in range(6):
    dist = Categorical(logits=policy(state))
    action = dist.sample()
    optimizer.zero_grad()
    EXAMPLE
    optimizer.step()
