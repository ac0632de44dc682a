q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16)
for _ in range(6):
    EXAMPLE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
