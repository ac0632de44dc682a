actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)

for _ in range(6):
    dist = Categorical(logits=actor(state))
    action = dist.sample()
    actor_opt.zero_grad()
    EXAMPLE
    actor_opt.step()
