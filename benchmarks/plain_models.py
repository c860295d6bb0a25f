"""GPT-2 and LLaMA in plain PyTorch, for machines without transformers: bf16 under autocast, one
sdpa per layer.

Both map ids [B, T] to logits [B, T, vocabulary]. Activations between blocks have the type
`compute`.
"""
import torch
from torch import nn
from torch.nn import functional


class GPT2Block(nn.Module):
    def __init__(self, width, heads, drop):
        super().__init__()
        self.heads, self.drop = heads, drop
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.c_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def dropped(self, x):
        return functional.dropout(x, self.drop, self.training) if self.drop else x

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.c_attn(self.ln_1(x)).chunk(3, -1))
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.drop if self.training else 0.0)
        x = x + self.dropped(self.c_proj(seen.transpose(1, 2).flatten(2)))
        return x + self.dropped(self.c_out(functional.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")))


class GPT2(nn.Module):
    def __init__(self, vocab, context, width, heads, layers, drop=0.0):
        super().__init__()
        self.drop, self.compute = drop, torch.float32
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.h = nn.ModuleList(GPT2Block(width, heads, drop) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        start(self)

    def forward(self, ids):
        x = (self.wte(ids) + self.wpe(torch.arange(ids.size(1), device=ids.device))).to(self.compute)
        x = functional.dropout(x, self.drop, self.training) if self.drop else x
        for block in self.h:
            x = block(x)
        return functional.linear(self.ln_f(x), self.wte.weight)


class RMSNorm(nn.RMSNorm):
    """An RMSNorm that converts its weight to the type of x, which selects PyTorch's fused kernel.
    """

    def forward(self, x):
        return functional.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.eps)


def rotated(x, cos, sin):
    """Applies rotary positions to the two halves of each head: x [B, heads, T, d], cos and sin [T,
    d / 2]."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class LlamaBlock(nn.Module):
    def __init__(self, width, ffn, heads, kv_heads, epsilon):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        kv = width // heads * kv_heads
        self.norm_1, self.norm_2 = RMSNorm(width, epsilon), RMSNorm(width, epsilon)
        self.qkv, self.o = nn.Linear(width, width + 2 * kv, bias=False), nn.Linear(width, width, bias=False)
        self.gate_up, self.down = nn.Linear(width, 2 * ffn, bias=False), nn.Linear(ffn, width, bias=False)

    def forward(self, x, cos, sin):
        heads = self.qkv(self.norm_1(x)).unflatten(-1, (self.heads + 2 * self.kv_heads, -1)).transpose(1, 2)
        q, k, v = heads.split((self.heads, self.kv_heads, self.kv_heads), 1)
        seen = functional.scaled_dot_product_attention(rotated(q, cos, sin), rotated(k, cos, sin), v, is_causal=True,
                                                       enable_gqa=self.heads != self.kv_heads)
        x = x + self.o(seen.transpose(1, 2).flatten(2))
        gate, up = self.gate_up(self.norm_2(x)).chunk(2, -1)
        return x + self.down(functional.silu(gate) * up)


class Llama(nn.Module):
    def __init__(self, vocab, context, width, ffn, heads, kv_heads, layers, theta=10000.0, epsilon=1e-6, tied=False):
        super().__init__()
        self.compute = torch.float32
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(LlamaBlock(width, ffn, heads, kv_heads, epsilon) for _ in range(layers))
        self.norm = RMSNorm(width, epsilon)
        self.head = None if tied else nn.Linear(width, vocab, bias=False)
        half = width // heads // 2
        angles = torch.outer(torch.arange(context).double(), theta ** (-torch.arange(half).double() / half))
        self.register_buffer("cos", angles.cos().float())
        self.register_buffer("sin", angles.sin().float())
        start(self)

    def forward(self, ids):
        x = self.embed(ids).to(self.compute)
        cos, sin = (table[: ids.size(1)].to(self.compute) for table in (self.cos, self.sin))
        for block in self.layers:
            x = block(x, cos, sin)
        return functional.linear(self.norm(x), self.embed.weight if self.head is None else self.head.weight)


@torch.no_grad()
def start(model):
    """Initialises weights of embeddings and linear layers from a normal distribution with deviation
    0.02, and biases with 0."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.normal_(0, 0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            module.bias.zero_()
