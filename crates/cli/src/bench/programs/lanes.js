// Classes, closures, strings, regular expressions, maps, typed arrays and JSON, from the seed of the lane.
let seed = (Number(args[0]) * 2654435761 + 1) >>> 0;
function random(n) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed >>> 8) % n;
}

class Shape {
    constructor(size) { this.size = size; }
    get area() { return 0; }
}
class Square extends Shape { get area() { return this.size ** 2; } }
class Circle extends Shape { get area() { return Math.PI * this.size ** 2; } }
function shapes() {
    const all = Array.from({ length: 120 }, () => new (random(2) ? Square : Circle)(1 + random(20)));
    return all.filter(shape => shape.size % 3).map(shape => shape.area).reduce((a, b) => a + b, 0).toFixed(6);
}

function words() {
    const parts = [];
    for (let i = 0; i < 100; i++) parts.push(String.fromCharCode(97 + random(5), 97 + random(5), 97 + random(26)));
    const counts = new Map();
    for (const [, word] of parts.join(" ").matchAll(/\b([a-c]\w+)\b/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 2).join(";");
}

function sieve() {
    const bytes = new Uint8Array(1000 + random(1000));
    let primes = 0;
    for (let i = 2; i < bytes.length; i++) {
        if (bytes[i]) continue;
        primes++;
        for (let j = i * i; j < bytes.length; j += i) bytes[j] = 1;
    }
    return primes;
}

function tree(depth) {
    return depth && random(5) ? { left: tree(depth - 1), key: random(1000), right: tree(depth - 1) } : null;
}
function trees() {
    const text = JSON.stringify(tree(7));
    const sum = node => node ? sum(node.left) + node.key + sum(node.right) : 0;
    return `${text.length} ${sum(JSON.parse(text))}`;
}

// An interpreter in the interpreter: a machine with a stack.
function machine() {
    const operators = [(a, b) => a + b, (a, b) => a ^ b, (a, b) => Math.max(a, b), (a, b) => (a * 31 + b) | 0];
    const stack = [];
    for (let i = 0; i < 600; i++) {
        stack.push(random(1 << 16));
        while (stack.length > 4) stack.push(operators[random(4)](stack.pop(), stack.pop()));
    }
    return stack.join(",");
}

const work = [shapes, words, sieve, trees, machine], results = [];
for (let round = 0; round < 12; round++) results[round % 8] = work[random(5)]();
print(results.join("\n"));
