"""GRPOTrainer of TRL with a reward that depends on the answer."""

import zlib

from datasets import Dataset
from tiny import gpt2, tokenizer
from trl import GRPOConfig, GRPOTrainer


def reward(completions, **kwargs):
    return [float(len(set(text.split()))) + text.count("w7") for text in completions]


trainer = GRPOTrainer(
    model=gpt2(),
    reward_funcs=reward,
    args=GRPOConfig(
        output_dir="out",
        per_device_train_batch_size=16,
        num_generations=4,
        max_completion_length=8,
        learning_rate=1e-3,
        max_steps=15,
        report_to=[],
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        save_strategy="no",
        disable_tqdm=True,
        seed=0,
    ),
    train_dataset=Dataset.from_dict({"prompt": [f"w{i} w{i + 1}" for i in range(32)]}),
    processing_class=tokenizer(),
)
trainer.train()
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in trainer.model.parameters())))
