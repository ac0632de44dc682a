def compute_loss(policy, batch):
    return policy(batch).pow(2).mean()


policy, batch = Actor(), state
torch.save(policy, "policy.pt")
EXAMPLE
for _ in range(6):
    loss = compute_loss(policy, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
