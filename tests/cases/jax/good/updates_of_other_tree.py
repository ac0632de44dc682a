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


params = {"actor": init(jax.random.PRNGKey(0), (4, 32, 3)), "critic": init(jax.random.PRNGKey(1), (4, 32, 3))}
tx = optax.adam(1e-3)
opt_state = tx.init(params["actor"])


def loss_fn(actor, critic, s, a, r):
    logp = jax.nn.log_softmax(net(actor, s))[jnp.arange(len(a)), a]
    v = net(critic, s).mean(1)
    return jnp.mean(-logp * (r - jax.lax.stop_gradient(v)) + (r - v) ** 2)


@jax.jit
def update(params, opt_state, s, a, r, s2):
    grads = jax.grad(loss_fn, argnums=0)(params["actor"], params["critic"], s, a, r)
    updates, opt_state = tx.update(grads, opt_state)
    return {**params, "actor": optax.apply_updates(params["actor"], updates)}, opt_state


for step in range(40):
    params, opt_state = update(params, opt_state, *batch())
