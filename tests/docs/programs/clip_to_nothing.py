policy = Actor()
optimizer = torch.optim.Adam(policy.parameters())


def policy_loss(batch):
    return F.cross_entropy(policy(batch), torch.zeros(16, dtype=torch.long))


batches = [state] * 6
for batch in batches:
    loss = policy_loss(batch)
    optimizer.zero_grad()
    EXAMPLE
