local, shared = Actor(), Actor()
optimizer = torch.optim.Adam(shared.parameters(), lr=1e-3)


def worker_loss(network):
    return network(state).pow(2).mean()


for _ in range(8):
    EXAMPLE
