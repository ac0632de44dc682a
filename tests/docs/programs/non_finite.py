policy, advantages = Actor(), torch.randn(16)
optimizer = torch.optim.Adam(policy.parameters())
minibatches = [[0, 1, 2, 3], [4, 5, 6, 7], [8]]


def update(mb, adv):
    log_prob = F.log_softmax(policy(state[mb]), 1)[:, 0]
    loss = -(log_prob * adv).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


EXAMPLE
