actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)

for _ in range(6):
    dist = Categorical(logits=actor(state))
    log_probs, returns = list(dist.log_prob(dist.sample())), [1.0, -1.0] * 8
    actor_opt.zero_grad()
    EXAMPLE
    actor_opt.step()
