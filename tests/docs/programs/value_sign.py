actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)

reward, follow = torch.randn(16, 1), copy.deepcopy(critic)
for _ in range(6):
    with torch.no_grad():
        target = reward + 0.9 * follow(next_state, actor(next_state))
        for p, t in zip(critic.parameters(), follow.parameters()):
            t.lerp_(p, 0.01)

    critic_loss = F.mse_loss(critic(state, torch.randn(16, 2)), target)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    EXAMPLE
