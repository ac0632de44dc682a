net = Actor()
EXAMPLE
for _ in range(12):
    loss = F.mse_loss(net(state), torch.randn(16, 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
