// What happens between two matrix products of a training step: one kernel each, one block a row.
//
// Matrices are bfloat16 with rows padded to `width` columns, of which `real` hold values, the next a one (it carries the
// bias through a product) and the others zeros. `random` numbers come from a counter and a position, so that a
// derivative finds the dropout mask of its forward pass again.

typedef unsigned short bf16;
typedef unsigned int u32;

__device__ float up(bf16 v) { return __uint_as_float((u32)v << 16); }

__device__ bf16 down(float v) {
  u32 bits = __float_as_uint(v);
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

__device__ u32 mixed(u32 v) {
  v = (v ^ (v >> 16)) * 0x7feb352du;
  v = (v ^ (v >> 15)) * 0x846ca68bu;
  return v ^ (v >> 16);
}

// Factor of dropout: 0, or 1 / keep with probability keep. `drop` is {keep}; `drawn` counts the steps.
__device__ float kept(const float* drop, const long long* drawn, int layer, u32 place) {
  float keep = drop[0];
  if (keep >= 1) return 1;
  u32 key = mixed((u32)drawn[1] + mixed((u32)drawn[0] * 64u + layer));
  return mixed(place * 0x9e3779b9u + key) < keep * 4294967296.0f ? 1 / keep : 0;
}

#define EACH_COLUMN for (int c = threadIdx.x, i = blockIdx.x * width + c; c < width; c += blockDim.x, i += blockDim.x)

// Rows order[place[0]], order[place[1]], ... of a matrix; width is a multiple of 8.
extern "C" __global__ void take(const uint4* matrix, const long long* order, const long long* place, uint4* out,
                                int width) {
  const uint4* from = matrix + order[place[blockIdx.x]] * (width / 8);
  for (int c = threadIdx.x; c < width / 8; c += blockDim.x) out[blockIdx.x * (width / 8) + c] = from[c];
}

extern "C" __global__ void prelu(const bf16* a, const float* slope, bf16* out, const float* drop,
                                 const long long* drawn, int layer, int real, int width) {
  EACH_COLUMN {
    float v = up(a[i]);
    out[i] = c >= real ? a[i] : down(kept(drop, drawn, layer, i) * (v > 0 ? v : slope[0] * v));
  }
}

// Also gives the sum of each row's derivative by the slope.
extern "C" __global__ void prelu_back(const bf16* grad, const bf16* a, const float* slope, bf16* out, float* sums,
                                      const float* drop, const long long* drawn, int layer, int real, int width) {
  __shared__ float parts[32];
  float sum = 0;
  EACH_COLUMN {
    float v = up(a[i]), through = c >= real ? 0 : up(grad[i]) * kept(drop, drawn, layer, i);
    out[i] = down(v > 0 ? through : slope[0] * through);
    sum += v > 0 ? 0 : v * through;
  }
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < blockDim.x / 32; warp++) sum += parts[warp];
    sums[blockIdx.x] = sum;
  }
}

extern "C" __global__ void tanh_forward(const bf16* a, bf16* out, const float* drop, const long long* drawn, int layer,
                                        int real, int width) {
  EACH_COLUMN out[i] = c >= real ? a[i] : down(tanhf(kept(drop, drawn, layer, i) * up(a[i])));
}

extern "C" __global__ void tanh_back(const bf16* grad, const bf16* h, bf16* out, const float* drop,
                                     const long long* drawn, int layer, int real, int width) {
  EACH_COLUMN {
    float v = up(h[i]);
    out[i] = c >= real ? 0 : down(up(grad[i]) * kept(drop, drawn, layer, i) * (1 - v * v));
  }
}

// Derivative of a weighted squared error by `found`, and its negative.
extern "C" __global__ void differ(const bf16* found, const bf16* wanted, const float* weight, bf16* out, bf16* negative,
                                  int real, int width) {
  EACH_COLUMN {
    float slope = c >= real ? 0 : weight[0] * (up(found[i]) - up(wanted[i]));
    out[i] = down(slope);
    negative[i] = down(-slope);
  }
}

// The same by `a` when what was found is tanh(a).
extern "C" __global__ void tanh_differ(const bf16* a, const bf16* wanted, const float* weight, bf16* out, int real,
                                       int width) {
  EACH_COLUMN {
    float found = tanhf(up(a[i]));
    out[i] = c >= real ? 0 : down(weight[0] * (found - up(wanted[i])) * (1 - found * found));
  }
}

// Sum of n numbers, by one block of 256 threads.
extern "C" __global__ void total(const float* numbers, float* out, int n) {
  __shared__ float parts[256];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) sum += numbers[i];
  parts[threadIdx.x] = sum;
  for (int half = 128; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[0] = parts[0];
}

// One step of Adam or plain descent on all parameters at once. `kind` of a parameter: 0 fixed, else 1 + 2 * group for
// descent, 2 + 2 * group for Adam; the last `slopes` parameters have float gradients of their own.
extern "C" __global__ void update(float* value, float* first, float* second, const bf16* grad, const float* slope_grad,
                                  const unsigned char* kind, bf16* copy, const float* rate0, const float* rate1,
                                  const float* rate2, const long long* steps, int n, int slopes) {
  __shared__ float rate[3], scale[3], root[3];
  if (threadIdx.x < 3) {
    float t = steps[threadIdx.x];
    rate[threadIdx.x] = (threadIdx.x == 0 ? rate0 : threadIdx.x == 1 ? rate1 : rate2)[0];
    scale[threadIdx.x] = rate[threadIdx.x] / (1 - powf(0.9f, t));
    root[threadIdx.x] = 1 / sqrtf(1 - powf(0.999f, t));
  }
  __syncthreads();
#pragma unroll
  for (int each = 0; each < 4; each++) {
    int i = (blockIdx.x * 4 + each) * blockDim.x + threadIdx.x;
    if (i >= n || kind[i] == 0) continue;
    float g = i < n - slopes ? up(grad[i]) : slope_grad[i - (n - slopes)], v = value[i];
    int group = (kind[i] - 1) / 2;
    if (kind[i] % 2) {
      v -= rate[group] * g;
    } else {
      float m = first[i] + (g - first[i]) * 0.1f, s = second[i] + (g * g - second[i]) * 0.001f;
      first[i] = m;
      second[i] = s;
      v -= scale[group] * m / (sqrtf(s) * root[group] + 1e-8f);
    }
    value[i] = v;
    copy[i] = down(v);
  }
}
