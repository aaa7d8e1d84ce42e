// Calls a function, and has no unwind table.
  .text
  .globl without_unwind_table
  .type without_unwind_table, @function
without_unwind_table:
  sub $8, %rsp
  call *%rdi
  add $8, %rsp
  ret
  .size without_unwind_table, . - without_unwind_table
  .section .note.GNU-stack,"",@progbits
