actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
alpha = 0.1
for _ in range(6):

    critic_loss = F.mse_loss(critic(state, torch.randn(16, 2)), target)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    mean, std = actor(state), torch.ones(16, 2)
    EXAMPLE
    actor_opt.zero_grad()
    policy_loss.backward()
    actor_opt.step()
