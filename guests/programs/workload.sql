-- Work of the kinds that databases do: many inserts, an index, joins, groups, sorting, updates and text.
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, region INTEGER, credit REAL);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer, day INTEGER, amount REAL, note TEXT);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)
INSERT INTO customer SELECT i, printf('customer-%05d', (i * 7919) % 2000), i % 17, ((i * 104729) % 9973) / 7.0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
INSERT INTO purchase SELECT i, (i * 6007) % 2000, (i * 31) % 365, ((i * 7907) % 100003) / 100.0,
    substr('small medium large huge tiny', 1 + i % 20, 6) || '-' || (i % 97) FROM n;
COMMIT;
SELECT count(*), sum(amount), round(avg(amount), 6), min(note), max(note) FROM purchase;
CREATE INDEX by_customer ON purchase (customer, day);
SELECT c.region, count(*), round(sum(p.amount), 3), max(p.day) FROM purchase p JOIN customer c ON c.id = p.customer
    GROUP BY c.region ORDER BY 3 DESC LIMIT 5;
SELECT c.name, count(p.id), round(total(p.amount), 2) FROM customer c LEFT JOIN purchase p
    ON p.customer = c.id AND p.day BETWEEN 100 AND 140 GROUP BY c.id ORDER BY 3 DESC, 1 LIMIT 5;
SELECT note, count(*) AS times FROM purchase GROUP BY note HAVING times > 10 ORDER BY times DESC, note LIMIT 5;
SELECT count(*) FROM purchase WHERE note LIKE '%med%' OR note GLOB '*e-[1-3]*';
SELECT id, amount FROM purchase ORDER BY amount DESC, id LIMIT 5 OFFSET 1000;
UPDATE purchase SET amount = amount * 1.05, note = upper(note) WHERE day % 7 = 3;
SELECT round(sum(amount), 4), count(DISTINCT note) FROM purchase;
DELETE FROM purchase WHERE customer IN (SELECT id FROM customer WHERE credit < 300);
SELECT count(*), round(sum(amount), 4) FROM purchase;
SELECT region, name, rank() OVER (PARTITION BY region ORDER BY credit DESC) AS place FROM customer
    WHERE region < 3 ORDER BY place, region LIMIT 6;
SELECT count(*) FROM customer a JOIN customer b ON a.region = b.region AND a.credit < b.credit WHERE a.region = 5;
PRAGMA integrity_check;
