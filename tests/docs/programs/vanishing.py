EXAMPLE
optimizer = torch.optim.Adam(net.parameters())
for _ in range(6):
    loss = F.mse_loss(net(state), torch.randn(16, 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
