CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL); CREATE INDEX i ON t(b);
INSERT INTO t VALUES(1, 'x', 2.5), (2, 'y', 3.5), (3, 'z', NULL);
SELECT b, sum(c) FROM t GROUP BY b ORDER BY 2 DESC; UPDATE t SET c = c * 2 WHERE a > 1; DELETE FROM t WHERE b LIKE 'x%';
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 30)
  SELECT count(*), group_concat(printf('%d-%s', x, hex(x))) FROM n WHERE x IN (SELECT x * 2 FROM n);
