actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
action = torch.randn(16, 2)
for _ in range(6):
    EXAMPLE
