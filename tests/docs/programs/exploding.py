q_net = Actor()
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters(), lr=1e-2)
action, reward, done = torch.randint(0, 2, (16, 1)), torch.rand(16), torch.zeros(16)
for update in range(1000):
    EXAMPLE
    optimizer.step()
    if update % 50 == 0:
        target_net.load_state_dict(q_net.state_dict())
