"""Turns each image by an angle of its own, by C++ that knows one image: ``looplift.op`` makes an operator of it."""

import argparse
import math

import torch

import looplift

CPP = """
#include <cmath>

// Visits, for each pixel of the turned image, the four of the image around its place there, each with its weight.
template <class Visit> static void each(double angle, int64_t h, int64_t w, Visit visit) {
  const double cosine = std::cos(angle), sine = std::sin(angle), middle = (h - 1) / 2.0, center = (w - 1) / 2.0;
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x) {
      const double u = cosine * (x - center) + sine * (y - middle) + center;
      const double v = cosine * (y - middle) - sine * (x - center) + middle;
      const int64_t left = std::floor(u), top = std::floor(v);
      for (int64_t row = top; row <= top + 1; ++row)
        for (int64_t column = left; column <= left + 1; ++column) {
          if (row < 0 || row >= h || column < 0 || column >= w) continue;
          visit(y * w + x, row * w + column, (1 - std::fabs(u - column)) * (1 - std::fabs(v - row)));
        }
    }
}

void turn(const float* image, double angle, float* turned, int64_t h, int64_t w) {
  for (int64_t k = 0; k < h * w; ++k) turned[k] = 0;
  each(angle, h, w, [&](int64_t to, int64_t from, double weight) { turned[to] += weight * image[from]; });
}

void turn_back(const float* gradient, double angle, float* image, int64_t h, int64_t w) {
  for (int64_t k = 0; k < h * w; ++k) image[k] = 0;
  each(angle, h, w, [&](int64_t to, int64_t from, double weight) { image[from] += weight * gradient[to]; });
}
"""
SIGNATURE = "(float32[h, w], angle: float) -> float32[h, w]"

turn_back = looplift.op("turn_back", CPP, signature=SIGNATURE)


def backward(gradient, image, angle):
    return turn_back(gradient, angle), None


turn = looplift.op("turn", CPP, signature=SIGNATURE, backward=backward)


def turn_images(images):
    turned = torch.zeros_like(images)
    for k in range(images.shape[0]):
        turned[k] = turn(images[k], math.pi * k / images.shape[0])
    return turned


def turn_images_batched(images):
    count = images.shape[0]
    return turn(images, math.pi * torch.arange(count, dtype=torch.float64) / max(count, 1))


def make_images(count=2_000, height=12, width=12):
    return (torch.randn(count, height, width, generator=torch.Generator().manual_seed(0)),)


PAIRS = [(turn_images, turn_images_batched, make_images)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=2_000, help="images")
    (images,) = make_images(parser.parse_args().count)
    turned = looplift.lift(turn_images)(images)
    print(f"turned {turned.shape[0]} images, sum {float(turned.sum()):.4f}")
