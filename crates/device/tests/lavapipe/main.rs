//! Every template on a real Vulkan driver, bit for bit against the definitions of `rung-math`.
//!
//! The driver is Mesa's lavapipe, a software one, so these tests need no GPU; without it they fail
//! and say what to install. They test bits only: lavapipe's speed means nothing.
//!
//! What is about buffers, queues and residency runs again over the stand-in for NVIDIA's driver (`nvidia`);
//! `RUNG_TEST_DEVICE` names another device for all of it.

mod bits;
mod broadcast;
#[path = "../../../ops/tests/common/card.rs"]
mod card;
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
#[cfg(target_os = "linux")]
mod nvidia;
mod operands;
mod product;
mod residency;
mod residency_model;
mod software;
mod support;
mod triangular;
