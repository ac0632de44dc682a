group, policy = 8, nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 6))
reference = copy.deepcopy(policy).requires_grad_(False)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)

for _ in range(12):
    prompts = torch.randn(4, 4).repeat_interleave(group, 0)
    answers = torch.distributions.Categorical(logits=policy(prompts)).sample()
    EXAMPLE
    log_prob = F.log_softmax(policy(prompts), 1).gather(1, answers[:, None])
    gap = F.log_softmax(reference(prompts), 1).gather(1, answers[:, None]) - log_prob
    ratio, kl = (log_prob - log_prob.detach()).exp(), gap.exp() - gap - 1
    loss = (0.04 * kl - ratio * advantages.view(-1, 1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
