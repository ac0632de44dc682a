q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16)
for _ in range(6):
    next_q = target_net(next_state).max(1).values.detach()
    EXAMPLE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, t in zip(q_net.parameters(), target_net.parameters()):
            t.lerp_(p, 0.01)
