//! Every template on a real Vulkan driver, bit for bit against the definitions of `rung-math`.
//!
//! The driver is Mesa's lavapipe, a software one, so these tests need no GPU; without it they fail
//! and say what to install. They test bits only: lavapipe's speed means nothing.

mod bits;
mod broadcast;
mod device;
mod elementwise;
mod failing;
mod far;
#[allow(dead_code)]
mod faulty;
mod fill;
mod fold;
mod fork;
mod fourier;
mod operands;
mod product;
mod residency;
mod residency_model;
mod software;
mod support;
mod triangular;
