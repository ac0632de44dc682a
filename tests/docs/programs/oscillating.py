critic, inputs = nn.Linear(4, 1), torch.randn(64, 4)
inputs = inputs / inputs.pow(2).mean(0).sqrt() * torch.tensor([1.0, 0.01, 0.01, 0.01])
EXAMPLE
for _ in range(12):
    loss = F.mse_loss(critic(inputs), inputs[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
