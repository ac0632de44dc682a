class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.policy, self.value = nn.Linear(3, 8), nn.Linear(8, 2), nn.Linear(8, 1)

    def forward(self, state):
        features = torch.relu(self.body(state))
        return self.policy(features), self.value(features)


model, action, entropy = Model(), torch.randint(0, 2, (16,)), 0.0
optimizer = torch.optim.Adam(model.parameters())
for _ in range(6):
    optimizer.zero_grad()
    EXAMPLE
    optimizer.step()
