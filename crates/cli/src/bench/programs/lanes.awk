# A text that the seed of the lane makes is split, counted and changed; then a game of life runs on a small board.
function random(n) { seed = (seed * 16807) % 2147483647; return seed % n }
function life(rounds,    r, i, j, k, n, w, cell, next_) {
    w = 10
    for (i = 0; i < w * w; i++) cell[i] = random(3) == 0
    for (r = 0; r < rounds; r++) {
        for (i = 0; i < w * w; i++) {
            n = 0
            for (j = -1; j <= 1; j++) for (k = -1; k <= 1; k++)
                if (j || k) n += cell[(i + j * w + k + w * w) % (w * w)]
            next_[i] = n == 3 || n == 2 && cell[i]
        }
        for (i = 0; i < w * w; i++) cell[i] = next_[i]
    }
    n = ""
    for (i = 0; i < w * w; i++) n = n cell[i]
    return n
}
BEGIN {
    seed = lane * 7919 + 12345
    for (i = 0; i < 10; i++) random(2)
    split("the of and to in machine lane memory register page vector number every result step program", word, " ")
    for (round = 0; round < 4; round++) {
        if (random(2)) { print substr(life(1 + random(2)), 50, 32); continue }
        text = ""
        for (i = 0; i < 100; i++) text = text word[1 + random(16)] (random(7) ? " " : ", ")
        count = split(text, part, /[ ,]+/)
        for (i = 1; i <= count; i++) times[part[i]] += length(part[i])
        changed = gsub(/m[a-z]+/, "<&>", text)
        print changed, toupper(substr(text, 1 + random(200), 20)), match(text, /e+[a-z]* st/), times["lane"], sprintf("%.4f", seed / 7)
    }
}
