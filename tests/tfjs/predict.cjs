// What the real TensorFlow.js makes of models: node predict.cjs FOLDER..., run where @tensorflow/tfjs is installed.
// Each folder has model.json, its weights, and inputs.json; the outputs go to outputs.json.
const fs = require('fs');
const path = require('path');
const tf = require(path.join(process.cwd(), 'node_modules', '@tensorflow', 'tfjs'));

function handler(folder) {
  return {
    load: async () => {
      const model = JSON.parse(fs.readFileSync(path.join(folder, 'model.json')));
      const groups = model.weightsManifest;
      const files = groups.flatMap((group) => group.paths).map((name) => fs.readFileSync(path.join(folder, name)));
      const all = Buffer.concat(files);
      const weightData = all.buffer.slice(all.byteOffset, all.byteOffset + all.byteLength);
      const weightSpecs = groups.flatMap((group) => group.weights);
      return {modelTopology: model.modelTopology, weightSpecs, weightData, format: model.format};
    },
  };
}

async function main() {
  await tf.setBackend('cpu');
  for (const folder of process.argv.slice(2)) {
    let result;
    try {
      const model = await tf.loadLayersModel(handler(folder));
      const inputs = JSON.parse(fs.readFileSync(path.join(folder, 'inputs.json')));
      const tensors = inputs.map((x) => tf.tensor(x.data, x.shape, x.dtype));
      const outputs = [].concat(model.predict(tensors.length === 1 ? tensors[0] : tensors));
      result = {outputs: outputs.map((y) => ({shape: y.shape, data: Array.from(y.dataSync())}))};
    } catch (error) {
      result = {error: String(error)};
    }
    fs.writeFileSync(path.join(folder, 'outputs.json'), JSON.stringify(result));
  }
}

main();
