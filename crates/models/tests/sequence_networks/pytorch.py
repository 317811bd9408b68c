"""Makes pytorch.json: what PyTorch computes for the networks that look at loops and for the memory oracle, in 64-bit floating
point.

The modules state the wiring that the documentation of kvrm-models describes, and share no code with it. Weights, words,
registers and accesses are random, from the generator SplitMix64, which the tests repeat.

    pip install torch==2.15.0 numpy==2.4.6
    python pytorch.py > pytorch.json
"""

import json

import numpy as np
import torch
from torch import nn

# Words with their class and, from the Arm manual, the numbers of the features from 24 to 29 that are set.
ARITHMETIC, LOGICAL, LOADSTORE, BRANCH, MULDIV, EXTEND_SHIFT, SYSTEM = range(7)
LOAD, STORE, WRITE_BACK, SETS_FLAGS, CONDITIONAL, BACKWARD = range(24, 30)
WORDS = [
    (0x38001420, LOADSTORE, [STORE, WRITE_BACK]),  # strb w0, [x1], #1
    (0xF1000442, ARITHMETIC, [SETS_FLAGS]),  # subs x2, x2, #1
    (0x54FFFFC1, BRANCH, [CONDITIONAL, BACKWARD]),  # b.ne .-8
    (0xF8408C41, LOADSTORE, [LOAD, WRITE_BACK]),  # ldr x1, [x2, #8]!
    (0xA8810C02, LOADSTORE, [STORE, WRITE_BACK]),  # stp x2, x3, [x0], #16
    (0xEB01001F, ARITHMETIC, [SETS_FLAGS]),  # cmp x0, x1
    (0x9B027C20, MULDIV, []),  # mul x0, x1, x2
    (0x8A020020, LOGICAL, []),  # and x0, x1, x2
    (0xD343FC20, EXTEND_SHIFT, []),  # lsr x0, x1, #3
    (0xB5FFFF80, BRANCH, [CONDITIONAL, BACKWARD]),  # cbnz x0, .-16
    (0x17FFFFFB, BRANCH, [BACKWARD]),  # b .-20
    (0xD503203F, SYSTEM, []),  # yield
    (0x37000040, BRANCH, [CONDITIONAL]),  # tbnz w0, #0, .+8
    (0xF9400041, LOADSTORE, [LOAD]),  # ldr x1, [x2]
    (0x0B030041, ARITHMETIC, []),  # add w1, w2, w3
]
LENGTHS = [1, 2, 3, 5, 8, 13, 21, 32]


class Random:
    def __init__(self, seed):
        self.state = np.uint64(seed)

    def bits(self, count):
        """Returns that many numbers of 64 bits."""
        with np.errstate(over="ignore"):
            steps = np.arange(1, count + 1, dtype=np.uint64)
            z = self.state + steps * np.uint64(0x9E3779B97F4A7C15)
            self.state = z[-1]
            z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
            return z ^ z >> np.uint64(31)


def initialise(module, random):
    """Gives the module random weights, in the order of its state dict, and returns the names and shapes of its tensors."""
    for name, tensor in module.state_dict().items():
        unit = (random.bits(tensor.numel()) >> np.uint64(40)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)
        rows = tensor.shape[1] if tensor.dim() == 2 else 16
        values = unit * np.float32(1.5 / np.sqrt(rows))
        if name == "temperature" or name.endswith(("norm.weight", "embed.1.weight")):
            values += np.float32(1)
        tensor.copy_(torch.from_numpy(values).reshape(tensor.shape))
    return [[name, list(tensor.shape)] for name, tensor in module.state_dict().items()]


def embedding(inputs):
    return nn.Sequential(nn.Linear(inputs, 128), nn.LayerNorm(128), nn.ReLU(), nn.Linear(128, 128))


class LoopDetector(nn.Module):
    def __init__(self):
        super().__init__()
        self.inst_embed = embedding(32)
        self.reg_field_extract = nn.Linear(32, 96)
        self.seq_encoder = nn.LSTM(128, 128, num_layers=2, bidirectional=True, batch_first=True)
        self.reg_embed = embedding(64)
        self.cross_attn = nn.MultiheadAttention(256, 4, batch_first=True)
        self.type_head = nn.Sequential(nn.Linear(384, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 4))
        self.counter_attn = nn.Linear(256, 32)
        self.iter_head = nn.Sequential(nn.Linear(416, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, bits, registers):
        instructions = self.inst_embed(bits)
        pointers = self.reg_field_extract(bits).reshape(-1, 3, 32).softmax(-1).sum(1)
        alone = torch.eye(32, dtype=torch.float64).repeat(1, 2) * registers
        tokens = torch.cat([self.reg_embed(alone), pointers.T @ instructions], -1)
        sequence, _ = self.seq_encoder(instructions[None])
        attended, _ = self.cross_attn(sequence, tokens[None], tokens[None])
        body = (sequence + attended)[0].mean(0)
        summary = torch.cat([body, self.reg_embed(registers)])
        counter = self.counter_attn(body)
        iterations = self.iter_head(torch.cat([summary, counter.softmax(-1)]))
        return {"kind_logits": self.type_head(summary), "counter_logits": counter, "log10_iterations": iterations}


class PatternRecogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.prototypes = nn.Parameter(torch.zeros(6, 128))
        self.temperature = nn.Parameter(torch.zeros(1))
        self.opcode_embedding = nn.Embedding(256, 128)
        self.position_embedding = nn.Embedding(32, 128)
        self.feature_proj = nn.Linear(64, 128)
        self.lstm = nn.LSTM(128, 128, num_layers=2, batch_first=True)
        self.attention = nn.MultiheadAttention(128, 4, batch_first=True)
        self.ffn = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128))
        self.norm = nn.LayerNorm(128)

    def forward(self, opcodes, features):
        tokens = self.opcode_embedding(opcodes) + self.position_embedding(torch.arange(len(opcodes)))
        sequence, _ = self.lstm((tokens + self.feature_proj(features))[None])
        sequence = sequence + self.attention(sequence, sequence, sequence)[0]
        sequence = sequence + self.ffn(sequence)
        embedding = self.norm(sequence[0].mean(0))
        cosines = torch.cosine_similarity(embedding[None], self.prototypes)
        return {"cosines": cosines, "logits": cosines * self.temperature, "embedding": embedding}


class IterationPredictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(131, 128)
        self.norm = nn.LayerNorm(128)
        self.fc2 = nn.Linear(128, 64)
        self.fc3 = nn.Linear(64, 1)

    def forward(self, inputs):
        hidden = nn.functional.gelu(self.norm(self.fc1(inputs)))
        return self.fc3(nn.functional.gelu(self.fc2(hidden)))


class MemoryOracle(nn.Module):
    def __init__(self):
        super().__init__()
        self.feature_encoder = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64))
        self.lstm = nn.LSTM(64, 128, num_layers=2, batch_first=True)
        self.delta_head = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 8))
        self.confidence_head = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 8), nn.Sigmoid())
        self.pattern_head = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, features):
        sequence, _ = self.lstm(self.feature_encoder(features)[None])
        state = sequence[0, -1]
        heads = {"deltas": self.delta_head, "confidences": self.confidence_head, "pattern_logits": self.pattern_head}
        return {name: head(state) for name, head in heads.items()}


def bits(word):
    return [float(word >> bit & 1) for bit in range(32)]


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def fields(entry):
    word, word_class, actions = entry
    unsigned = lambda low, width: (word >> low & (1 << width) - 1) / ((1 << width) - 1)
    number = lambda low, width: ((word >> low & (1 << width) - 1) ^ 1 << width - 1) - (1 << width - 1)
    distance = lambda words: np.sign(words) * np.log2(abs(words) + 1) / 26
    rd, rn, rm = word & 31, word >> 5 & 31, word >> 16 & 31
    values = [rd / 31, rn / 31, rm / 31, unsigned(10, 5), rd == rn, rd == rm, rn == rm, rd == 31, rn == 31]
    values += [unsigned(10, 12), unsigned(5, 16), unsigned(10, 6), number(12, 9) / 256, number(15, 7) / 64]
    values += [distance(number(0, 26)), distance(number(5, 19)), distance(number(5, 14))]
    values += [index == word_class for index in range(7)]
    values += [feature in actions for feature in range(24, 30)] + [word >> 31, 1]
    return [float(value) for value in values]


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def case(seed, length):
    random = Random(seed)
    modules = {"loop-detector": LoopDetector(), "pattern-recogniser": PatternRecogniser()}
    modules["iteration-predictor"] = IterationPredictor()
    tensors = {name: initialise(module, random) for name, module in modules.items()}
    detector, recogniser, predictor = (module.double().eval() for module in modules.values())

    body = [WORDS[int(number % np.uint64(len(WORDS)))] for number in random.bits(length)]
    registers = [int(number) >> shift % 64 for shift, number in enumerate(random.bits(32), start=seed)]
    registers[1::3] = [(1 << 64) - value for value in registers[1::3]]
    registers[7] = 0
    numbers = [signed(value) for value in registers]
    magnitudes = [np.sign(value) * np.log10(abs(value) + 1) / 10 for value in numbers]
    flags = [float(value != 0) for value in numbers]

    words = [word for word, _, _ in body]
    proposal = detector(tensor([bits(word) for word in words]), tensor(magnitudes + flags))
    opcodes = torch.tensor([word >> 24 for word in words])
    match = recogniser(opcodes, tensor([bits(entry[0]) + fields(entry) for entry in body]))
    pc = registers[2]
    scalars = [np.log2(abs(value) + 1) / 64 for value in numbers[:2]] + [pc % (1 << 20) / (1 << 20)]
    iterations = predictor(torch.cat([match["embedding"], tensor(scalars)]))

    outputs = {**proposal, **match, "predicted": iterations}
    return tensors, {"seed": seed, "words": words, "registers": registers, **shortened(outputs)}


def shortened(outputs):
    return {name: [float(f"{value:.9g}") for value in values.tolist()] for name, values in outputs.items()}


def access_features(delta, size, is_load, pc):
    distance = abs(delta)
    values = [delta / 1e6, np.log1p(distance) / 20, -1 if delta < 0 else 1, distance <= 8]
    values += [distance in range(8, 65, 8), distance % 4 == 0, distance % 8 == 0, min(size, 8) / 8, is_load]
    return [float(value) for value in values] + [(pc & 255) / 255]


def window(seed, length):
    random = Random(seed)
    oracle = MemoryOracle()
    tensors = initialise(oracle, random)
    # Deltas of all magnitudes up to 2^24, and small multiples of 4.
    numbers = [signed(int(number)) for number in random.bits(length)]
    deltas = [number >> 39 + index * 7 % 25 for index, number in enumerate(numbers, start=seed)]
    deltas[1::4] = [(number % 40 - 20) * 4 for number in numbers[1::4]]
    sizes = [1 << number % 5 for number in numbers]
    loads = [number >> 8 & 1 for number in numbers]
    pcs = [int(number) >> 16 for number in random.bits(length)]
    accesses = list(zip(deltas, sizes, loads, pcs))
    outputs = oracle.double().eval()(tensor([access_features(*access) for access in accesses]))
    return tensors, {"seed": seed, "accesses": accesses, **shortened(outputs)}


def lines(name, results):
    return f', "{name}": [\n' + ",\n".join(json.dumps(result) for result in results) + "\n]"


with torch.no_grad():
    cases = [case(seed, length) for seed, length in enumerate(LENGTHS, start=1)]
    windows = [window(seed, length) for seed, length in enumerate(LENGTHS, start=1)]
tensors = {**cases[0][0], "memory-oracle": windows[0][0]}
print(json.dumps({"torch": torch.__version__.split("+")[0], "tensors": tensors})[:-1], end="")
results = [[result for _, result in results] for results in (cases, windows)]
print(lines("cases", results[0]) + lines("windows", results[1]) + "}")
