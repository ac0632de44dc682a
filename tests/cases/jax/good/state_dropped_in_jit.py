import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [{"w": jax.random.normal(k, (i, o)) * 0.3, "b": jnp.zeros(o)} for k, i, o in zip(keys, sizes, sizes[1:])]


def net(p, x):
    for layer in p[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ p[-1]["w"] + p[-1]["b"]


def batch():
    s = rng.normal(size=(32, 4)).astype(np.float32)
    a = rng.integers(0, 3, size=32)
    r = (a == s[:, :3].argmax(1)).astype(np.float32)
    return s, a, r, rng.normal(size=(32, 4)).astype(np.float32)


params = init(jax.random.PRNGKey(0), (4, 32, 3))
tx = optax.adam(1e-2)
opt_state = tx.init(params)


def loss_fn(p, s, a, r):
    logp = jax.nn.log_softmax(net(p, s))
    return -jnp.mean(logp[jnp.arange(len(a)), a] * r)


@jax.jit
def update(params, opt_state, s, a, r):
    loss, grads = jax.value_and_grad(loss_fn)(params, s, a, r)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


for step in range(20):
    params, opt_state, loss = update(params, opt_state, *batch()[:3])
print(loss)
