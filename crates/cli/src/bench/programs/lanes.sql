-- Rows, an index, joins, groups, changes and texts, from the seed of the lane.
PRAGMA cache_size = 40;
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, region INTEGER, credit REAL);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, day INTEGER, amount REAL, note TEXT);
BEGIN;
WITH RECURSIVE n(i, x) AS (SELECT 0, {lane} * 7919 + 12345 UNION ALL SELECT i + 1, x * 16807 % 2147483647 FROM n WHERE i < 99)
INSERT INTO customer SELECT i, printf('customer-%05d', x % 2000), x % 7, x % 9973 / 7.0 FROM n;
WITH RECURSIVE n(i, x) AS (SELECT 0, {lane} * 104729 + 54321 UNION ALL SELECT i + 1, x * 16807 % 2147483647 FROM n WHERE i < 499)
INSERT INTO purchase SELECT i, x % 100, x / 100 % 365, x % 100003 / 100.0,
    substr('small medium large huge tiny', 1 + x % 20, 6) || '-' || (x % 97) FROM n;
COMMIT;
SELECT count(*), sum(amount), round(avg(amount), 6), min(note), max(note) FROM purchase;
CREATE INDEX by_customer ON purchase (customer, day);
SELECT c.region, count(*), round(sum(p.amount), 3), max(p.day) FROM purchase p JOIN customer c ON c.id = p.customer
    GROUP BY c.region ORDER BY 3 DESC LIMIT 5;
SELECT c.name, count(p.id), round(total(p.amount), 2) FROM customer c LEFT JOIN purchase p
    ON p.customer = c.id AND p.day BETWEEN 100 AND 140 GROUP BY c.id ORDER BY 3 DESC, 1 LIMIT 5;
SELECT note, count(*) AS times FROM purchase GROUP BY note HAVING times > 1 ORDER BY times DESC, note LIMIT 5;
SELECT count(*) FROM purchase WHERE note LIKE '%med%' OR note GLOB '*e-[1-3]*';
UPDATE purchase SET amount = amount * 1.05, note = upper(note) WHERE day % 7 = {lane} % 7;
SELECT round(sum(amount), 4), count(DISTINCT note) FROM purchase;
DELETE FROM purchase WHERE customer IN (SELECT id FROM customer WHERE credit < 300);
SELECT count(*), round(sum(amount), 4) FROM purchase;
SELECT region, name, rank() OVER (PARTITION BY region ORDER BY credit DESC) AS place FROM customer
    WHERE region < 3 ORDER BY place, region LIMIT 6;
SELECT count(*) FROM customer a JOIN customer b ON a.region = b.region AND a.credit < b.credit;
PRAGMA integrity_check;
