/* More loops and variables in one function than it asks in: regions go on through the smaller loops. */
#include <stdio.h>

int main(void) {
  int a = 6, b = 0, c = 1, d = 2, e = 3, f = 4, g = 5, h = 6, i = 0, j = 1, k = 2, l = 3;
  int m = 4, n = 5, o = 6, p = 0, q = 1, r = 2, s = 3, t = 4, u = 5, v = 6, w = 0, x = 1;
  for (int turn = 0; turn < 4000; turn++) {
    for (int lap = 0; lap < 1; lap++) a = (a * 5 + f + lap) % 31;
    while (b > 8) b -= 1 + (g & 3);
    do c++; while ((c + turn) % 5 != 0);
    for (int lap = 0; lap < 4; lap++) d = (d * 5 + i + lap) % 34;
    while (e > 11) e -= 1 + (j & 3);
    do f++; while ((f + turn) % 4 != 0);
    for (int lap = 0; lap < 3; lap++) g = (g * 5 + l + lap) % 37;
    while (h > 9) h -= 1 + (m & 3);
    do i++; while ((i + turn) % 3 != 0);
    for (int lap = 0; lap < 2; lap++) j = (j * 5 + o + lap) % 40;
    while (k > 7) k -= 1 + (p & 3);
    do l++; while ((l + turn) % 6 != 0);
    for (int lap = 0; lap < 1; lap++) m = (m * 5 + r + lap) % 43;
    while (n > 10) n -= 1 + (s & 3);
    do o++; while ((o + turn) % 5 != 0);
    for (int lap = 0; lap < 4; lap++) p = (p * 5 + u + lap) % 46;
    while (q > 8) q -= 1 + (v & 3);
    do r++; while ((r + turn) % 4 != 0);
    for (int lap = 0; lap < 3; lap++) s = (s * 5 + x + lap) % 49;
    while (t > 11) t -= 1 + (a & 3);
    do u++; while ((u + turn) % 3 != 0);
    for (int lap = 0; lap < 2; lap++) v = (v * 5 + c + lap) % 52;
    while (w > 9) w -= 1 + (d & 3);
    do x++; while ((x + turn) % 6 != 0);
    b += turn & 15, e += c & 15, h += d & 7, k += j & 7, n += p & 15, q += s & 15, t += v & 15, w += a & 7;
  }
  printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", a, b, c, d, e, f, g, h, i, j, k, l,
         m, n, o, p, q, r, s, t, u, v, w, x);
  return 0;
}
