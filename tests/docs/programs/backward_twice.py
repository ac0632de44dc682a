log_alpha, target_entropy, batches = torch.zeros(1, requires_grad=True), -2.0, [state] * 6
alpha_opt = torch.optim.Adam([log_alpha])


def log_prob(batch):
    return actor(batch)


EXAMPLE
