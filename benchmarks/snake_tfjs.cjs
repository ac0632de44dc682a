// One contender of snake.py: the update of the snake network in TensorFlow.js, written for this benchmark.
// node snake_tfjs.cjs FOLDER node|cpu BATCH: FOLDER has node_modules; each line on stdin asks for that many updates.
const path = require('path');
const readline = require('readline');
const [folder, backend, batch] = [process.argv[2], process.argv[3], Number(process.argv[4])];
const name = backend === 'node' ? 'tfjs-node' : 'tfjs';
const tf = require(path.join(folder, 'node_modules', '@tensorflow', name));

function build(trainable) {
  const model = tf.sequential();
  const conv = (filters, inputShape) => tf.layers.conv2d({filters, kernelSize: 3, activation: 'relu', inputShape});
  model.add(conv(128, [9, 9, 2]));
  model.add(tf.layers.batchNormalization());
  model.add(conv(256));
  model.add(tf.layers.batchNormalization());
  model.add(conv(256));
  model.add(tf.layers.flatten());
  model.add(tf.layers.dense({units: 100, activation: 'relu'}));
  model.add(tf.layers.dropout({rate: 0.25}));
  model.add(tf.layers.dense({units: 3}));
  model.trainable = trainable;
  return model;
}

async function main() {
  if (backend === 'cpu') await tf.setBackend('cpu');
  const online = build(true), target = build(false), optimizer = tf.train.adam(1e-3);
  const states = tf.randomUniform([batch, 9, 9, 2]), nexts = tf.randomUniform([batch, 9, 9, 2]);
  const actions = tf.tensor1d(Array.from({length: batch}, (_, i) => i % 3), 'int32');
  const rewards = tf.randomNormal([batch]), going = tf.ones([batch]);
  const update = () => {
    const loss = () => tf.tidy(() => {
      const q = online.apply(states, {training: true}).mul(tf.oneHot(actions, 3)).sum(-1);
      const goal = rewards.add(target.predict(nexts).max(-1).mul(going).mul(0.99));
      return tf.losses.meanSquaredError(goal, q);
    });
    const {value, grads} = tf.variableGrads(loss);
    optimizer.applyGradients(grads);
    const number = value.dataSync()[0];
    tf.dispose([value, grads]);
    return number;
  };
  console.log(JSON.stringify({ready: tf.getBackend()}));
  for await (const line of readline.createInterface({input: process.stdin})) {
    const before = process.cpuUsage(), start = performance.now();
    for (let i = 0; i < Number(line); i++) update();
    const used = process.cpuUsage(before);
    console.log(JSON.stringify({cpu: (used.user + used.system) / 1e6, wall: (performance.now() - start) / 1e3}));
  }
}

main();
