"""GRPOTrainer of TRL with LoRA, two iterations and a KL term."""

import zlib

from datasets import Dataset
from peft import LoraConfig
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
        num_iterations=2,
        beta=0.04,
        max_completion_length=8,
        learning_rate=1e-3,
        max_steps=16,
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
    peft_config=LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], task_type="CAUSAL_LM"),
)
trainer.train()
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in trainer.model.parameters())))
