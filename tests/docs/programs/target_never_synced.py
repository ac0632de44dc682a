q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16)


def update(q_net, target):
    loss = F.mse_loss(q_net(state).gather(1, action).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


batches = [None] * 12
EXAMPLE
