"""A tiny language model and its tokenizer, made from a config: nothing is downloaded."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast


def tokenizer():
    words = ["<pad>", "<eos>", "<unk>"] + [f"w{i}" for i in range(61)]
    made = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        padding_side="left",
    )


def gpt2(seed=0):
    torch.manual_seed(seed)
    still = dict(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    ends = dict(bos_token_id=1, eos_token_id=1, pad_token_id=0)
    shape = dict(vocab_size=64, n_positions=64, n_embd=32, n_layer=2, n_head=2)
    return GPT2LMHeadModel(GPT2Config(**shape, **still, **ends))
