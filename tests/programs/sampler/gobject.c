/* Objects of the real library, without its headers; and what is no object. */
#include <stddef.h>

#define G_TYPE_OBJECT ((unsigned long)(20 << 2))
#ifdef __cplusplus
extern "C" {
#endif
extern void *g_object_new(unsigned long type, const char *first_property, ...);
extern void *g_object_ref(void *object);
extern void g_object_unref(void *object);
extern void *g_type_create_instance(unsigned long type);
#ifdef __cplusplus
}
#endif

int main(void) {
  void *object = g_object_new(G_TYPE_OBJECT, NULL);
  void *other = g_object_new(G_TYPE_OBJECT, NULL);
  void *held = g_object_ref(object);
  int i;
  for (i = 0; i < 3; i++) g_object_ref(other);
  for (i = 0; i < 4; i++) g_object_unref(other);
  g_object_unref(held);
  g_object_unref(object);
  g_object_unref(NULL);
  return 0;
}
