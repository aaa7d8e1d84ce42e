int UNIT(void) { return 0; }
