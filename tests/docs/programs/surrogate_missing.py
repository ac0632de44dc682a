policy, returns = Actor(), torch.randn(16)
optimizer = torch.optim.Adam(policy.parameters())
for _ in range(6):
    EXAMPLE
