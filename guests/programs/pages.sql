-- A table and an index of some MiB: rows are inserted in order, looked up in any order, read in ranges, changed and deleted.
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, amount INTEGER, note TEXT);
CREATE INDEX customers ON orders (customer);
BEGIN;
WITH RECURSIVE numbers(id, random) AS (
    SELECT 1, 1 UNION ALL SELECT id + 1, (random * 1103515245 + 12345) & 2147483647 FROM numbers WHERE id < 12000
)
INSERT INTO orders SELECT id, (random >> 8) % 5000, (random >> 4) % 1000, printf('%0220d', random) FROM numbers;
COMMIT;
SELECT count(*), sum(amount), min(customer), max(customer) FROM orders;

-- By the key.
WITH RECURSIVE keys(n, random) AS (
    SELECT 1, 7 UNION ALL SELECT n + 1, (random * 1103515245 + 12345) & 2147483647 FROM keys WHERE n < 15000
)
SELECT count(*), sum(orders.amount), sum(length(orders.note))
FROM keys JOIN orders ON orders.id = 1 + (keys.random >> 8) % 12000;

-- By the index, and then the rows.
WITH RECURSIVE keys(n, random) AS (
    SELECT 1, 9 UNION ALL SELECT n + 1, (random * 1103515245 + 12345) & 2147483647 FROM keys WHERE n < 4000
)
SELECT count(*), sum(orders.amount), max(orders.note)
FROM keys JOIN orders ON orders.customer = (keys.random >> 8) % 5000;

-- In ranges.
SELECT customer / 500, count(*), sum(amount) FROM orders GROUP BY customer / 500;
SELECT sum(length(note)) FROM orders WHERE id BETWEEN 3000 AND 9000;
UPDATE orders SET amount = amount + 1, note = note || 'x' WHERE customer % 7 = 3;
DELETE FROM orders WHERE customer % 11 = 5;
SELECT count(*), sum(amount), sum(length(note)) FROM orders;
