encoder, actor, critic = nn.Linear(3, 3), nn.Linear(3, 2), nn.Linear(3, 1)


def policy_loss(logits):
    return logits.pow(2).mean()


def value_loss(value):
    return F.mse_loss(value, target)


EXAMPLE
for _ in range(6):
    features = encoder(state)
    loss = policy_loss(actor(features)) + value_loss(critic(features))
    actor_opt.zero_grad(), critic_opt.zero_grad()
    loss.backward()
    actor_opt.step(), critic_opt.step()
