"""A loop of one's own whose optimizer was made before the LoRA adapters of PEFT."""

import zlib

import torch
from peft import LoraConfig, get_peft_model
from tiny import gpt2

base = gpt2()
config = LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], task_type="CAUSAL_LM")
optimizer = torch.optim.AdamW(base.parameters(), lr=1e-2)
model = get_peft_model(base, config)
for step in range(20):
    ids = torch.randint(3, 64, (8, 12), generator=torch.Generator().manual_seed(step))
    loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in model.parameters())))
