policy = Actor()
optimizer = torch.optim.Adam(policy.parameters())
returns = torch.randn(16)
for _ in range(6):
    dist = Normal(policy(state), 1.0)
    EXAMPLE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
