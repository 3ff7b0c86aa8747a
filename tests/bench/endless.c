/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace of any size to standard output, as fast as a disk: as Kineto writes one, all
 * operators of a recording first, then calls, then what ran on the device.
 *
 * usage: endless BYTES [STEPS]
 * STEPS: of a recording; without it all steps are of one. With 1 they come one after the other.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LAYERS = 6000, /* of a step, each an operator, one within, its launch and its kernel */
	LAYER_NS = 300000,
	STEP_BYTES = 8440000,
	BUFFER_BYTES = 1 << 20,
	MAX_EVENT_BYTES = 1024,
};

static char buffer[BUFFER_BYTES];
static size_t used;
static uint64_t written;

static void flush(void)
{
	for (size_t at = 0; at < used;) {
		ssize_t count = write(STDOUT_FILENO, buffer + at, used - at);

		if (count < 0)
			exit(1);
		at += (size_t)count;
	}
	written += used;
	used = 0;
}

static void put(const char *text)
{
	size_t length = strlen(text);

	memcpy(buffer + used, text, length);
	used += length;
}

static void put_number(uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	memcpy(buffer + used, digits + at, sizeof(digits) - at);
	used += sizeof(digits) - at;
}

/* Microseconds with three decimals. */
static void put_us(uint64_t ns)
{
	put_number(ns / 1000);
	buffer[used++] = '.';
	buffer[used++] = (char)('0' + ns / 100 % 10);
	buffer[used++] = (char)('0' + ns / 10 % 10);
	buffer[used++] = (char)('0' + ns % 10);
}

static void begin(const char *category, const char *name, const char *place, uint64_t start_ns,
		  uint64_t dur_ns)
{
	if (used > BUFFER_BYTES - MAX_EVENT_BYTES)
		flush();
	put(",\n  {\n    \"ph\": \"X\", \"cat\": \"");
	put(category);
	put("\", \"name\": \"");
	put(name);
	put("\", ");
	put(place);
	put(",\n    \"ts\": ");
	put_us(start_ns);
	put(", \"dur\": ");
	put_us(dur_ns);
	put(",\n    \"args\": {\n      \"External id\": ");
}

#define HOST "\"pid\": 4242, \"tid\": 4242"
#define DEVICE "\"pid\": 0, \"tid\": 7"

static const char *const operators[] = { "aten::linear", "aten::layer_norm", "aten::gelu",
					 "aten::scaled_dot_product_attention" };
static const char *const inner[] = { "aten::addmm", "aten::native_layer_norm", "aten::gelu_",
				     "aten::_flash_attention_forward" };
static const char *const kernels[] = {
	"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
	"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>"
	"(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*)",
	"void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int)",
	"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 128, 64>"
	">(pytorch_flash::Flash_fwd_params)",
};

static const uint64_t start_ns = UINT64_C(1700000000000000000),
		      step_ns = UINT64_C(1) * (LAYERS + 100) * LAYER_NS;

static uint64_t layer_ns(uint64_t step, uint64_t layer)
{
	return start_ns + step * step_ns + (layer + 1) * LAYER_NS;
}

static void put_operators(uint64_t step)
{
	char name[64];

	snprintf(name, sizeof(name), "ProfilerStep#%" PRIu64, step);
	begin("user_annotation", name, HOST, start_ns + step * step_ns, step_ns - 1000);
	put_number(step);
	put(", \"Ev Idx\": 0\n    }\n  }");
	for (uint64_t layer = 0; layer < LAYERS; layer++) {
		uint64_t id = (step * LAYERS + layer) * 2, now_ns = layer_ns(step, layer);

		for (uint64_t i = 0; i < 2; i++) {
			begin("cpu_op", (i ? inner : operators)[layer % 4], HOST,
			      now_ns + i * 20000, 200000 - i * 40000);
			put_number(id + i + 1);
			put(", \"Record function id\": 0, \"Sequence number\": ");
			put_number(id / 2 % 100000);
			put(", \"Fwd thread id\": 0, \"Ev Idx\": ");
			put_number(id + i);
			put("\n    }\n  }");
		}
	}
}

static void put_calls(uint64_t step)
{
	for (uint64_t layer = 0; layer < LAYERS; layer++) {
		uint64_t id = (step * LAYERS + layer) * 2 + 2;

		begin("cuda_runtime", "cudaLaunchKernel", HOST, layer_ns(step, layer) + 60000,
		      9000);
		put_number(id);
		put(", \"cbid\": 211, \"correlation\": ");
		put_number(id);
		put("\n    }\n  }");
	}
}

static void put_work(uint64_t step)
{
	for (uint64_t layer = 0; layer < LAYERS; layer++) {
		uint64_t id = (step * LAYERS + layer) * 2 + 2;

		begin("kernel", kernels[layer % 4], DEVICE, layer_ns(step, layer) + 90000,
		      150000 + layer % 64 * 1000);
		put_number(id);
		put(", \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, "
		    "\"correlation\": ");
		put_number(id);
		put(",\n      \"registers per thread\": 168, \"shared memory\": 73728,\n"
		    "      \"blocks per SM\": 7.11, \"warps per SM\": 56.8, \"grid\": [24, 32, "
		    "1],\n"
		    "      \"block\": [256, 1, 1], \"est. achieved occupancy %\": 25\n    }\n  }");
	}
}

int main(int count, char **arguments)
{
	uint64_t bytes = count > 1 ? strtoull(arguments[1], NULL, 10) : 0;
	uint64_t steps = count > 2 ? strtoull(arguments[2], NULL, 10) : 0;
	uint64_t last = bytes / STEP_BYTES + 1;

	if (bytes == 0) {
		fprintf(stderr, "usage: endless BYTES [STEPS]\n");
		return 2;
	}
	put("{\n  \"schemaVersion\": 1, \"with_stack\": 0, \"deviceProperties\": [\n    {\n"
	    "      \"id\": 0, \"name\": \"NVIDIA A100-SXM4-80GB\", \"totalGlobalMem\": "
	    "85051572224,\n"
	    "      \"computeMajor\": 8, \"computeMinor\": 0, \"maxThreadsPerMultiprocessor\": "
	    "2048,\n"
	    "      \"warpSize\": 32, \"numSms\": 108\n    }\n  ],\n  \"traceEvents\": [\n"
	    "  {\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0, \"pid\": 4242, \"tid\": 0,\n"
	    "   \"args\": {\"name\": \"python\"}}");
	if (steps == 0)
		steps = last;
	for (uint64_t first = 0; first < last; first += steps) {
		uint64_t end = first + steps < last ? first + steps : last;

		for (uint64_t step = first; step < end; step++)
			put_operators(step);
		for (uint64_t step = first; step < end; step++)
			put_calls(step);
		for (uint64_t step = first; step < end; step++)
			put_work(step);
	}
	put("\n  ]\n}\n");
	flush();
	fprintf(stderr, "%" PRIu64 " bytes, %" PRIu64 " events\n", written,
		last * (4 * LAYERS + 1));
	return 0;
}
