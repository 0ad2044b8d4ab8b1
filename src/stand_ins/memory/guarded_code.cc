#include "memory/guarded_code.h"

#include <ucontext.h>

#if GDR_HAS_GUARDED_CODE

// rdi: to, rsi: from, rdx: bytes. Sixty-four or sixteen at a time, in order, and the last sixteen,
// which may overlap those before, last; from 1 KiB on as the processor likes best.
asm(R"(
  .pushsection .text
  .p2align 4
  .hidden gdr_guarded_begin, gdr_guarded_end, gdr_guarded_fault
  .globl gdr_guarded_begin, gdr_guarded_end, gdr_guarded_fault
  .hidden gdr_guarded_copy, gdr_guarded_look
  .globl gdr_guarded_copy, gdr_guarded_look
  .type gdr_guarded_copy, @function
  .type gdr_guarded_look, @function
gdr_guarded_begin:
gdr_guarded_copy:
  .cfi_startproc
  cmpq $16, %rdx
  jb 3f
  cmpq $1024, %rdx
  jae 6f
  xorl %eax, %eax
  leaq -64(%rdx), %rcx
  cmpq $64, %rdx
  jb 9f
8:
  movups (%rsi,%rax), %xmm0
  movups 16(%rsi,%rax), %xmm1
  movups 32(%rsi,%rax), %xmm2
  movups 48(%rsi,%rax), %xmm3
  movups %xmm0, (%rdi,%rax)
  movups %xmm1, 16(%rdi,%rax)
  movups %xmm2, 32(%rdi,%rax)
  movups %xmm3, 48(%rdi,%rax)
  addq $64, %rax
  cmpq %rcx, %rax
  jbe 8b
9:
  leaq -16(%rdx), %rcx
1:
  cmpq %rcx, %rax
  jae 2f
  movups (%rsi,%rax), %xmm0
  movups %xmm0, (%rdi,%rax)
  addq $16, %rax
  jmp 1b
2:
  movups (%rsi,%rcx), %xmm0
  movups %xmm0, (%rdi,%rcx)
  movl $1, %eax
  ret
3:
  testb $8, %dl
  jz 4f
  movq (%rsi), %rax
  movq -8(%rsi,%rdx), %rcx
  movq %rax, (%rdi)
  movq %rcx, -8(%rdi,%rdx)
  movl $1, %eax
  ret
4:
  testb $4, %dl
  jz 5f
  movl (%rsi), %eax
  movl -4(%rsi,%rdx), %ecx
  movl %eax, (%rdi)
  movl %ecx, -4(%rdi,%rdx)
  movl $1, %eax
  ret
5:
  testl %edx, %edx
  jz 7f
  movzbl (%rsi), %eax
  movb %al, (%rdi)
  testb $2, %dl
  jz 7f
  movzwl -2(%rsi,%rdx), %eax
  movw %ax, -2(%rdi,%rdx)
  jmp 7f
6:
  movq %rdx, %rcx
  rep movsb
7:
  movl $1, %eax
  ret
  .cfi_endproc
  .size gdr_guarded_copy, . - gdr_guarded_copy
  .p2align 4
gdr_guarded_look:
  .cfi_startproc
1:
  movzbl (%rdi), %eax
  orq $4095, %rdi
  incq %rdi
  cmpq %rsi, %rdi
  jbe 1b
  movl $1, %eax
  ret
  .cfi_endproc
  .size gdr_guarded_look, . - gdr_guarded_look
gdr_guarded_end:
gdr_guarded_fault:
  .cfi_startproc
  xorl %eax, %eax
  ret
  .cfi_endproc
  .popsection
)");

extern "C" {
[[gnu::visibility("hidden")]] extern const char gdr_guarded_begin[], gdr_guarded_end[],
    gdr_guarded_fault[];
}

namespace gdr::memory {

bool leave_guarded_code(void* context) {
  greg_t& instruction = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const auto address_of = [](const char* label) { return reinterpret_cast<greg_t>(label); };
  const bool is_there =
      instruction >= address_of(gdr_guarded_begin) && instruction < address_of(gdr_guarded_end);
  if (is_there) instruction = address_of(gdr_guarded_fault);
  return is_there;
}

}  // namespace gdr::memory

#else

namespace gdr::memory {

bool leave_guarded_code(void* /*context*/) { return false; }

}  // namespace gdr::memory

#endif
