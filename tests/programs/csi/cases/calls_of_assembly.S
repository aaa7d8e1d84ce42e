// A function without a type.
  .text
  .globl untyped
untyped:
  push %rbx
  call from_assembly
  pop %rbx
  ret
  .section .note.GNU-stack,"",@progbits
