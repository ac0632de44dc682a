policy = Actor()


def policy_loss(batch):
    return F.cross_entropy(policy(batch), torch.zeros(16, dtype=torch.long))


EXAMPLE


for batch in [state] * 8:
    update(batch)
