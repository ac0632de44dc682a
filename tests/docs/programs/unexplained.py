actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(6):

    critic_loss = F.mse_loss(critic(state, torch.randn(16, 2)), target)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    EXAMPLE
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
