// stretch.js: room for boxes that grow: a map of one coordinate that only ever spreads. It keeps the order of everything,
// so that what did not overlap does not overlap after, and nobody's picture is shuffled by opening a module.
// spans: [from, to, length that is needed]. The room is spread over a span evenly, so that what has one centre keeps one.
function stretch(spans) {
    if (!spans.length) return (x) => x;
    const widest = new Map();
    for (const [a, b, need] of spans) {
        const key = a + " " + b, known = widest.get(key);
        if (!known || known[2] < need) widest.set(key, [a, b, need]);
    }
    const list = [...widest.values()].sort((p, q) => p[1] - p[0] - (q[1] - q[0]) || p[0] - q[0]);
    const xs = [...new Set(list.flatMap(([a, b]) => [a, b]))].sort((p, q) => p - q);
    const place = new Map(xs.map((x, i) => [x, i])), length = xs.slice(1).map((x, i) => x - xs[i]);
    for (const [a, b, need] of list) {
        const i = place.get(a), k = place.get(b);
        let have = 0;
        for (let j = i; j < k; j++) have += length[j];
        if (have < need) for (let j = i; j < k; j++) length[j] += ((need - have) * (xs[j + 1] - xs[j])) / (b - a);
    }
    const to = [xs[0]];
    length.forEach((l, i) => to.push(to[i] + l));
    const end = xs.length - 1;
    return (x) => {
        if (x <= xs[0]) return x;
        if (x >= xs[end]) return x + to[end] - xs[end];
        let low = 0, high = end;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (xs[middle] <= x) low = middle; else high = middle;
        }
        return to[low] + ((x - xs[low]) * length[low]) / (xs[low + 1] - xs[low]);
    };
}
