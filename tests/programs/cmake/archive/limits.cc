int limited(int value) { return value > 3 ? 3 : value; }
