EXAMPLE

    def forward(self, state):
        mean = self.layers[1](torch.relu(self.layers[0](state)))
        return Normal(mean, self.log_std.exp())


encoder, policy = nn.Linear(3, 4), Policy()
optimizer = torch.optim.Adam([*encoder.parameters(), *policy.parameters()])
for _ in range(6):
    loss = -policy(encoder(state)).log_prob(torch.zeros(16, 2)).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
