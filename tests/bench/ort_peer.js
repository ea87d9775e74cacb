// ort_peer.js MODULE MODEL THREADS LEVEL SHAPE DTYPE: ONNX Runtime as a server, as torch_peer.py is one.
const [, , module_, model, threads, level, shape, dtype] = process.argv;
const ort = require(module_);
const one = threads === '1';
const clock = one ? () => { const u = process.cpuUsage(); return (u.user + u.system) / 1e6; }
    : () => Number(process.hrtime.bigint()) / 1e9;

async function main() {
    const session = await ort.InferenceSession.create(model, {
        intraOpNumThreads: +threads, interOpNumThreads: 1, graphOptimizationLevel: level});
    const sizes = shape.split('x').map(Number), n = sizes.reduce((a, b) => a * b, 1);
    const data = dtype === 'int64' ? new BigInt64Array(n).map((_, i) => BigInt(i % 8000))
        : new Float32Array(n).map(() => Math.random() * 2 - 1);
    const feeds = {[session.inputNames[0]]: new ort.Tensor(dtype, data, sizes)};
    const least = async (times) => {
        let best = Infinity;
        for (let i = 0; i < times; i++) {
            const start = clock();
            await session.run(feeds);
            best = Math.min(best, clock() - start);
        }
        return best;
    };
    console.log(await least(1));
    for await (const line of require('readline').createInterface({input: process.stdin}))
        console.log(await least(+line));
}
main();
