"""A Trainer of transformers whose loss is REINFORCE with an entropy bonus."""

import zlib

import torch
from tiny import gpt2
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments


class Answers(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        random = torch.Generator().manual_seed(index)
        ids = torch.randint(3, 64, (12,), generator=random)
        return {"input_ids": ids, "reward": torch.randn((), generator=random)}


class Reinforce(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        ids, reward = inputs["input_ids"], inputs["reward"]
        logits = model(input_ids=ids).logits[:, :-1]
        logp = torch.log_softmax(logits, -1).gather(-1, ids[:, 1:, None]).squeeze(-1).sum(-1)
        scores = logp * 1.0
        entropy = -(logits.softmax(-1) * logits.log_softmax(-1)).sum(-1).mean()
        return -(scores * reward).mean() - 0.01 * entropy


args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    max_steps=16,
    report_to=[],
    use_cpu=True,
    save_strategy="no",
    remove_unused_columns=False,
    disable_tqdm=True,
    seed=0,
)
trainer = Reinforce(model=gpt2(), args=args, train_dataset=Answers())
trainer.train()
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in trainer.model.parameters())))
