// Reads a GObject without GObject's headers.
#include "abi.h"

// From libgobject, if the program uses it.
extern "C" __attribute__((weak)) int g_type_check_instance_is_fundamentally_a(const void* instance,
                                                                              uintptr_t type);

__attribute__((visibility("default"))) uint64_t telltale_sampler_object_kind(const void* object) {
  constexpr uintptr_t kObjectType = 20 << 2;  // G_TYPE_OBJECT
  constexpr uint64_t kNoObject = 3;
  struct Object {
    const void* type_class;
    unsigned references;
  };
  if (object == nullptr || g_type_check_instance_is_fundamentally_a == nullptr ||
      g_type_check_instance_is_fundamentally_a(object, kObjectType) == 0)
    return kNoObject;
  const unsigned references = static_cast<const Object*>(object)->references;
  return references > 1 ? 2 : references;
}
