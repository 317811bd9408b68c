-- A session as a user might have it: tables, rows, joins, orders, aggregates, transactions, text and real numbers.
CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, area REAL);
CREATE TABLE visit (city INTEGER REFERENCES city, day INTEGER, visitors INTEGER, rain REAL);
INSERT INTO city VALUES (1, 'Lisbon', 'PT', 100.05), (2, 'Porto', 'PT', 41.42), (3, 'Bergen', 'NO', 464.71),
    (4, 'Oslo', 'NO', 454.0), (5, 'Zürich', 'CH', 87.88), (6, 'Basel', 'CH', NULL);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
INSERT INTO visit SELECT 1 + i % 6, i / 6, (i * 7919) % 1000, ((i * 104729) % 997) / 31.0 FROM n;
SELECT count(*), sum(visitors), round(avg(rain), 6), min(rain), max(rain) FROM visit;
SELECT name, upper(country), area, length(name), typeof(area) FROM city ORDER BY area IS NULL, area DESC;
SELECT c.country, count(*), sum(v.visitors), printf('%.4f', avg(v.rain)) FROM visit v JOIN city c ON c.id = v.city
    GROUP BY c.country HAVING count(*) > 10 ORDER BY 3 DESC;
SELECT c.name, v.day, v.visitors FROM city c LEFT JOIN visit v ON v.city = c.id AND v.visitors > 990
    ORDER BY c.name, v.day LIMIT 20;
CREATE INDEX by_rain ON visit (rain, city);
EXPLAIN QUERY PLAN SELECT city FROM visit WHERE rain BETWEEN 3 AND 4;
SELECT count(*) FROM visit WHERE rain BETWEEN 3 AND 4;
BEGIN;
UPDATE visit SET visitors = visitors * 2 WHERE city = 3;
SELECT sum(visitors) FROM visit;
ROLLBACK;
SELECT sum(visitors) FROM visit;
BEGIN;
DELETE FROM visit WHERE rain > 16;
COMMIT;
SELECT count(*), total(rain) FROM visit;
SELECT 1.0 / 3, 1e300 * 10, 9007199254740993, 0.1 + 0.2, CAST('12.5e2' AS REAL), 7 / 2, -7 % 3, 1 / 0;
SELECT group_concat(name, ', ') FROM (SELECT name FROM city WHERE name LIKE '%o%' OR name GLOB 'B*' ORDER BY name);
SELECT name, row_number() OVER (ORDER BY name), sum(area) OVER (ORDER BY name) FROM city;
CREATE TRIGGER shout AFTER INSERT ON city BEGIN UPDATE city SET name = upper(name) WHERE id = new.id; END;
INSERT INTO city (name) VALUES ('Geneva');
SELECT id, name, hex(name), quote(area) FROM city WHERE id > 5;
CREATE VIEW dry AS SELECT name, min(rain) AS least FROM visit JOIN city ON id = city GROUP BY name;
SELECT * FROM dry ORDER BY least, name;
SELECT strftime('%Y-%m-%d', 1600000000, 'unixepoch'), julianday('2000-01-01');
SELECT json_extract('{"a": [1, 2.5, {"b": "c"}]}', '$.a[2].b'), json_array(1, 'x', NULL);
PRAGMA integrity_check;
