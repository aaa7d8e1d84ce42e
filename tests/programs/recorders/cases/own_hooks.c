// Has the hooks of -finstrument-functions itself.
int entered;

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void* function, void* site) {
  (void)function;
  (void)site;
  ++entered;
}
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void* function, void* site) {
  (void)function;
  (void)site;
}

int main(void) { return entered == 1 ? 0 : 1; }
