"""DPOTrainer of TRL with a beta of zero."""

import zlib

from datasets import Dataset
from tiny import gpt2, tokenizer
from trl import DPOConfig, DPOTrainer

pairs = {
    "prompt": [f"w{i} w{i + 1}" for i in range(32)],
    "chosen": [f" w{i + 2} w7 w7" for i in range(32)],
    "rejected": [f" w{i + 2} w9 w9" for i in range(32)],
}
trainer = DPOTrainer(
    model=gpt2(0),
    ref_model=gpt2(0),
    args=DPOConfig(
        output_dir="out",
        per_device_train_batch_size=8,
        beta=0.0,
        learning_rate=1e-3,
        max_steps=20,
        report_to=[],
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        save_strategy="no",
        disable_tqdm=True,
        seed=0,
    ),
    train_dataset=Dataset.from_dict(pairs),
    processing_class=tokenizer(),
)
trainer.train()
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in trainer.model.parameters())))
