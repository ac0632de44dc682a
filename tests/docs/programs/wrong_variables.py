critic_loss = F.mse_loss(critic(state, torch.randn(16, 2)), target)
EXAMPLE
for _ in range(6):
    critic_loss = F.mse_loss(critic(state, torch.randn(16, 2)), target)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    actor_loss = -critic(state, actor(state)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
