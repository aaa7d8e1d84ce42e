float g(void);
float f(float a) {
  float b = a;
  b = g();
  return b;
}
