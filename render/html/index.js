// index.js: which of many rectangles touch a part of the picture: a grid of cells, and a list of what is in too many cells.
const CELL = 400, MANY = 48;
function indexOf(list, w, h) {
    const nx = Math.max(1, Math.ceil(w / CELL)), ny = Math.max(1, Math.ceil(h / CELL)), cells = new Map(), long = [];
    const clamp = (v, n) => Math.min(n - 1, Math.max(0, Math.floor(v / CELL)));
    list.forEach((r, i) => {
        const x0 = clamp(r.x, nx), x1 = clamp(r.x2, nx), y0 = clamp(r.y, ny), y1 = clamp(r.y2, ny);
        if ((x1 - x0 + 1) * (y1 - y0 + 1) > MANY) return long.push(i);
        for (let y = y0; y <= y1; y++)
            for (let x = x0; x <= x1; x++) {
                const key = y * nx + x, cell = cells.get(key);
                if (cell) cell.push(i); else cells.set(key, [i]);
            }
    });
    const seen = new Uint32Array(list.length);
    let round = 0;
    // In the order of the list.
    return (x, y, x2, y2) => {
        const touches = (r) => r.x <= x2 && r.x2 >= x && r.y <= y2 && r.y2 >= y;
        const cx0 = clamp(x, nx), cx1 = clamp(x2, nx), cy0 = clamp(y, ny), cy1 = clamp(y2, ny);
        if ((cx1 - cx0 + 1) * (cy1 - cy0 + 1) > (nx * ny) / 2) return list.filter(touches);
        const found = [];
        round++;
        const take = (i) => {
            if (seen[i] === round || !touches(list[i])) return;
            seen[i] = round;
            found.push(i);
        };
        long.forEach(take);
        for (let cy = cy0; cy <= cy1; cy++)
            for (let cx = cx0; cx <= cx1; cx++) (cells.get(cy * nx + cx) || []).forEach(take);
        return found.sort((a, b) => a - b).map((i) => list[i]);
    };
}
