use crate::call::Call;
use crate::decline::{Answer, Decline};
use crate::round_trip::RoundTrip;
use rung_base::Result;
use rung_lanes::Lanes;
pub fn lanes(_: &Call, _: &Lanes) -> Result<Answer> {
    Ok(Answer::Declined(Decline::NoKernel("pending")))
}
pub fn device(_: &Call, _: &RoundTrip) -> Result<Answer> {
    Ok(Answer::Declined(Decline::NoKernel("pending")))
}
